"""Loops of a function that as a whole cannot be compiled, and what keeps each from lifting."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.rules.model import Function, Kind, PyFile, is_true, stored, walk_own
from porter.rules.nopython.calls import uncompilable_calls
from porter.rules.threads import element
from porter.rules.words import words

#: built-in functions of numbers
_PLAIN = words("range len min max abs int float round")
_OBJECTS = (
    *(ast.Dict, ast.Set, ast.List, ast.JoinedStr, ast.Lambda, ast.Try, ast.With, ast.Raise),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.Delete),
)


def falls_back(file: PyFile, function: Function) -> str | None:
    """The call that keeps the function in object mode; None when it can be compiled.

    A function without a decorator counts too when it loops over arrays: it is what someone
    who ports it will meet first.
    """
    if function.kind in (Kind.PLAIN, Kind.OBJECT) or (
        function.kind is Kind.NOPYTHON and not is_true(function.options.get("nopython"))
    ):
        calls = uncompilable_calls(file, function)
        return calls[0][1] if calls else None
    return None


def outer_loops(function: Function) -> Iterator[ast.For | ast.While]:
    """The outermost loops, those inside `if` blocks included."""
    yield from _outer(function.node.body)


def _outer(body: list[ast.stmt]) -> Iterator[ast.For | ast.While]:
    for statement in body:
        if isinstance(statement, (ast.For, ast.While)):
            yield statement
        elif isinstance(statement, ast.If):
            yield from _outer(statement.body)
            yield from _outer(statement.orelse)


def title(file: PyFile, loop: ast.For | ast.While) -> str:
    """How messages name a loop."""
    if isinstance(loop, ast.For):
        return f"loop over `{file.code(loop.target)}`"
    return f"`while {file.code(loop.test)}` loop"


def works_on_arrays(function: Function, loop: ast.For | ast.While) -> bool:
    """Whether the loop computes with elements of a parameter at an index of its own."""
    nodes = [n for s in loop.body for n in walk_own(s)]
    if isinstance(loop, ast.For):
        own = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    else:
        own = stored(nodes)
    return any(isinstance(n, (ast.BinOp, ast.AugAssign, ast.Assign)) for n in nodes) and any(
        (at := element(n)) is not None
        and at.base in function.parameters
        and own & {i.id for x in at.indices for i in ast.walk(x) if isinstance(i, ast.Name)}
        for n in nodes
    )


def only_numbers(file: PyFile, function: Function, loop: ast.For | ast.While) -> bool:
    """Whether the loop is arithmetic on elements and nothing else: no methods, text or objects."""
    nodes = [loop.iter if isinstance(loop, ast.For) else loop.test, *loop.body]
    inside = [n for s in loop.body for n in walk_own(s)]
    loops = [loop, *(n for n in inside if isinstance(n, (ast.For, ast.While)))]
    bases = {at.base for n in inside if (at := element(n)) is not None}
    rebound = stored(function.nodes) & set(function.parameters)
    if not all(map(counts, loops)) or bases & rebound:
        # elements of something that is no longer what was passed in, or of a dict
        return False
    return all(_numeric(file, function, n) for s in nodes for n in walk_own(s))


def counts(loop: ast.For | ast.While) -> bool:
    """Whether a loop runs over numbers."""
    call = loop.iter if isinstance(loop, ast.For) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("range", "prange")


def _numeric(file: PyFile, function: Function, node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = file.qualified(node.func, function) or ""
        plain = isinstance(node.func, ast.Name) and node.func.id in _PLAIN
        return plain or name.split(".")[0] in ("math", "numpy")
    if isinstance(node, ast.Attribute):
        root = (file.qualified(node, function) or "").split(".")[0]
        return node.attr in ("shape", "size", "ndim") or root in ("math", "numpy")
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, complex))
    return not isinstance(node, _OBJECTS)


def obstacle(
    file: PyFile, function: Function, loop: ast.For | ast.While
) -> tuple[ast.AST, str] | None:
    """The first thing in a loop that keeps Numba from lifting it, and what it is."""
    nodes = [n for s in loop.body for n in walk_own(s)]
    for node in nodes:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return node, "it yields"
        if isinstance(node, ast.Return):
            return node, "it returns from inside"
    calls = uncompilable_calls(file, function, nodes)
    if calls:
        return calls[0][0], f"Numba cannot compile `{calls[0][1]}`"
    if isinstance(loop, ast.While):
        return loop, "Numba lifts only `for` loops"
    leave = next(_breaks(loop.body), None)
    return (leave, "it leaves by `break`") if leave is not None else None


def _breaks(body: list[ast.stmt]) -> Iterator[ast.Break]:
    """The `break` statements that leave the loop whose body this is."""
    for statement in body:
        if isinstance(statement, ast.Break):
            yield statement
        elif isinstance(statement, (ast.For, ast.While)):
            yield from _breaks(statement.orelse)
        else:
            for field in ("body", "orelse", "handlers", "finalbody"):
                for child in getattr(statement, field, []):
                    inner = child.body if isinstance(child, ast.ExceptHandler) else [child]
                    yield from _breaks(inner)
