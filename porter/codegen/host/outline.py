"""Loops of a host function around launches alone: functions of their own, which are compiled.

A launch that is a plain call costs less there than the host needs to begin one.  What may stand in
such a loop is a list of forms, so that it means the same to Numba as to Python: loops over ranges,
branches on integers, calls of kernels, new arrays, exchanges of them, and arithmetic of integers.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from porter.support.parsing import tree_of

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult)
_DIVISIONS = (ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Known:
    """The names of a host function by what they are."""

    kernels: frozenset[str]
    arrays: frozenset[str]
    integers: frozenset[str]
    types: frozenset[str]


@dataclass
class Outlined:
    """The host function without its loops around launches, and these as functions."""

    text: str
    functions: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def outlined(text: str, name: str, known: Known) -> Outlined:
    """Take the outermost such loops out of a host function."""
    (function,) = tree_of(text).body
    assert isinstance(function, ast.FunctionDef)
    lines = text.split("\n")
    found = Outlined(text)
    for loop in reversed(list(_loops(function.body, known))):
        names = _passed(function, loop)
        if names is None:
            continue
        given, back = names
        own = f"{name}_steps{len(found.names) + 1 if found.names else ''}"
        first, last = _lines_of(lines, loop)
        body = textwrap.indent(textwrap.dedent("\n".join(lines[first:last])), "    ")
        end = f"\n    return {', '.join(back)}" if back else ""
        head = f"@njit(cache=True)\ndef {own}({', '.join(given)}):"
        found.functions.append(f"{head}\n{body}{end}")
        found.names.append(own)
        call = f"{own}({', '.join(given)})"
        pad = " " * loop.col_offset
        lines[first:last] = [f"{pad}{', '.join(back)} = {call}" if back else pad + call]
    found.text = "\n".join(lines)
    return found


def _lines_of(lines: Sequence[str], loop: ast.stmt) -> tuple[int, int]:
    """The lines of a loop; comments above it belong to it."""
    assert loop.end_lineno is not None
    first = loop.lineno - 1
    while lines[first - 1].strip().startswith("#"):
        first -= 1
    return first, loop.end_lineno


def _loops(body: Sequence[ast.stmt], known: Known) -> Iterator[ast.For | ast.While]:
    """The outermost loops that can be compiled, in order."""
    for s in body:
        if isinstance(s, (ast.For, ast.While)) and _compiles(s, known):
            yield s
        elif isinstance(s, (ast.For, ast.While, ast.If)):
            yield from _loops(s.body, known)
            yield from _loops(s.orelse, known)


def _passed(
    function: ast.FunctionDef, loop: ast.stmt
) -> tuple[list[str], list[str]] | None:  # fmt: skip
    """What a loop is given and gives back; None where Python may find a name without a value."""
    inside = {id(n) for n in ast.walk(loop)}
    outside = [n for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) not in inside]
    own = [n for n in ast.walk(loop) if isinstance(n, ast.Name)]
    bound = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    bound |= {n.id for n in outside if isinstance(n.ctx, ast.Store)}
    stored = {n.id for n in own if isinstance(n.ctx, ast.Store)}
    given = list(dict.fromkeys(n.id for n in own if n.id in bound))
    # in another loop, what stands before it comes after it, too, and so does the loop itself
    again = loop.col_offset > 4  # deeper than the function
    after = [n for n in outside if again or n.lineno > loop.lineno]
    after += [n for n in own if again and n.id in bound]
    back = sorted(stored & {n.id for n in after if isinstance(n.ctx, ast.Load)})
    surely = _surely_bound(function, loop)
    read = {n.id for n in own if isinstance(n.ctx, ast.Load) and n.id in bound}
    # what is only stored has no value to be given
    given = [n for n in given if n in read or n in back]
    return (given, back) if {*back, *(stored & set(given))} <= surely else None


def _surely_bound(function: ast.FunctionDef, loop: ast.stmt) -> set[str]:
    """The names that have a value before the loop, whatever happened."""
    found = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    for s in function.body:
        if s.lineno >= loop.lineno:
            break
        for t in s.targets if isinstance(s, ast.Assign) else ():
            found |= {n.id for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def _compiles(loop: ast.For | ast.While, known: Known) -> bool:
    """Whether everything in a loop is one of the forms, and it launches something."""
    form = _Form(known)
    calls = {n.func.id for n in ast.walk(loop)
             if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}  # fmt: skip
    return bool(calls & known.kernels) and form.statement(loop)


class _Form:
    """Asks whether statements and expressions are of the forms that mean the same to Numba."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.integers = set(known.integers)

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """All statements."""
        return all(map(self.statement, body))

    def statement(self, s: ast.stmt) -> bool:
        """One statement."""
        match s:
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds, []), body, []):
                if not all(map(self.integer, bounds)):
                    return False
                self.integers.add(name)
                return self.block(body)
            case ast.While(test, body, []):
                return self.condition(test) and self.block(body)
            case ast.If(test, body, orelse):
                return self.condition(test) and self.block(body) and self.block(orelse)
            case ast.Assign([target], value):
                return self.assignment(target, value)
            case ast.Expr(ast.Call(ast.Name(name), args, [])):
                return name in self.known.kernels and all(map(self.argument, args))
        return isinstance(s, (ast.Break, ast.Continue, ast.Pass))

    def assignment(self, target: ast.expr, value: ast.expr) -> bool:
        """Arrays change their names, or a variable gets an integer."""
        match target, value:
            case ast.Tuple(), ast.Tuple():
                return self.arrays((*target.elts, *value.elts))
            case ast.Name(name), _ if name in self.known.arrays:
                return self.empty(value) or self.arrays((value,))
            case ast.Name(name), _ if self.integer(value):
                self.integers.add(name)
                return True
        return False

    def empty(self, e: ast.expr) -> bool:
        """An array without values, of a shape of integers and a dtype of NumPy's or an array's."""
        match e:
            case ast.Call(
                ast.Attribute(ast.Name("np"), "empty"), [shape, ast.Attribute(dtype)], []
            ):
                sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
                return isinstance(dtype, ast.Name) and (
                    self.is_shape(shape) or all(map(self.integer, sizes))
                )
        return False

    def is_shape(self, e: ast.expr) -> bool:
        """The shape of an array."""
        match e:
            case ast.Attribute(ast.Name(name), "shape"):
                return name in self.known.arrays
        return False

    def arrays(self, found: Collection[ast.expr]) -> bool:
        """Names of arrays alone."""
        return all(isinstance(e, ast.Name) and e.id in self.known.arrays for e in found)

    def condition(self, e: ast.expr) -> bool:
        """A comparison of integers."""
        match e:
            case ast.BoolOp(_, values):
                return all(map(self.condition, values))
            case ast.UnaryOp(ast.Not(), value):
                return self.condition(value)
            case ast.Compare(left, _, others):
                return all(map(self.integer, (left, *others)))
        return False

    def argument(self, e: ast.expr) -> bool:
        """What a kernel is given: arrays, numbers as they are or of a dtype, integers."""
        match e:
            case ast.Name() | ast.Constant(int() | float() | complex()):
                return True
            case ast.Call(ast.Attribute(ast.Name(name), "reshape"), [ast.Constant(1)], []):
                return name in self.known.arrays
            case ast.Call(ast.Name(name), [value], []) if name in self.known.types:
                return self.argument(value)
            case ast.Call(ast.Attribute(ast.Name("np"), _), [value], []):
                return self.argument(value)
        return self.integer(e)

    def integer(self, e: ast.expr) -> bool:
        """Arithmetic of sizes, indices and integer arguments."""
        match e:
            case ast.Constant(int()):
                return True
            case ast.Name(name):
                return name in self.integers
            case ast.Subscript(ast.Attribute(ast.Name(), "shape"), ast.Constant(int())):
                return True
            case ast.UnaryOp(ast.USub(), value):
                return self.integer(value)
            case ast.BinOp(left, op, ast.Constant(int() as n)) if isinstance(op, _DIVISIONS):
                return n > 0 and self.integer(left)
            case ast.BinOp(left, op, right) if isinstance(op, _ARITHMETIC):
                return self.integer(left) and self.integer(right)
            case ast.Call(ast.Name("min" | "max"), values, []):
                return all(map(self.integer, values))
        return False
