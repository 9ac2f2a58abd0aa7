"""Launches of kernels, and integers that a file lets us compute: sizes, grids, blocks."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from porter.rules.model import Function, Kind, PyFile, keyword, uses_of, walk_own
from porter.rules.words import words

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
#: for each name the lines that bind it and what they bind it to
Bindings = dict[str, list[tuple[int, ast.expr | None]]]
_INT_OPS: dict[type[ast.operator], Callable[[float, float], float | None]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b if b else None,
    ast.Mod: lambda a, b: a % b if b else None,
    ast.Div: lambda a, b: a / b if b else None,
    ast.Pow: lambda a, b: a**b if 0 <= b < 64 and abs(a) < 2**32 else None,
}
_SIZED = words(
    "zeros ones empty full arange recarray device_array pinned_array mapped_array managed_array "
    "random.rand random.random random.randn rand"
)
_LIKE = words(
    "zeros_like ones_like empty_like full_like to_device device_array_like as_cuda_array "
    "asarray ascontiguousarray array copy"
)
#: methods whose result has as many elements
_SAME = words("astype copy reshape ravel flatten")


@dataclass(frozen=True)
class Configured:
    """`kernel[grid, block, stream](...)`: the call, its configuration, its scope."""

    name: str
    call: ast.Call
    config: tuple[ast.expr, ...]
    scope: Scope

    @property
    def grid(self) -> ast.expr:
        """The number of blocks."""
        return self.config[0]

    @property
    def block(self) -> ast.expr:
        """The number of threads in a block."""
        return self.config[1]

    @property
    def stream(self) -> ast.expr | None:
        """The stream, when one is given."""
        return self.config[2] if len(self.config) > 2 else None


@dataclass(frozen=True)
class Launch(Configured):
    """A launch of a kernel of the same file."""

    kernel: Function


@lru_cache(maxsize=4)
def configured(file: PyFile) -> tuple[Configured, ...]:
    """Every launch in the file, in source order within each scope."""
    if "numba" not in file.text:
        return ()
    return tuple(launch for scope in scopes(file) for launch in _configured(file, scope))


def launches(file: PyFile) -> list[Launch]:
    """Every launch in the file of a kernel of the file."""
    return [x for x in configured(file) if isinstance(x, Launch)]


def launches_of(file: PyFile, function: Function) -> list[Launch]:
    """The launches of one kernel."""
    return [x for x in launches(file) if x.kernel is function]


def handed_on(file: PyFile, function: Function) -> bool:
    """Whether the function may be called on the device or launched elsewhere: it calls itself,
    or is passed on as a value, and no launch here says that it is a kernel."""
    if launches_of(file, function):
        return False
    heads = {
        id(n.value) for n in ast.walk(file.tree) if isinstance(n, (ast.Subscript, ast.Attribute))
    }
    called = {
        id(n.func)
        for n in ast.walk(file.tree)
        if isinstance(n, ast.Call) and not _within(function, n)
    }
    return any(
        isinstance(n.ctx, ast.Load) and id(n) not in heads and id(n) not in called
        for n in uses_of(function.node.name, ast.walk(file.tree))
    )


def _within(function: Function, node: ast.Call) -> bool:
    return function.node.lineno <= node.lineno <= (function.node.end_lineno or node.lineno)


def scopes(file: PyFile) -> list[Scope]:
    """The module and every function that is not compiled."""
    plain = [f.node for f in file.functions if f.kind in (Kind.PLAIN, Kind.OTHER)]
    return [file.tree, *plain]


@lru_cache(maxsize=256)
def own_nodes(scope: Scope) -> tuple[ast.AST, ...]:
    """The nodes of a scope in source order, nested functions and classes left out."""
    return tuple(n for s in scope.body for n in walk_own(s))


def _configured(file: PyFile, scope: Scope) -> Iterator[Configured]:
    made = [(name, value) for _, name, value in _assignments(scope)]
    names = [name for name, _ in made]
    configured = {n: v for n, v in made if isinstance(v, ast.Subscript) and names.count(n) == 1}
    for node in own_nodes(scope):
        if not isinstance(node, ast.Call):
            continue
        # `launch = kernel[blocks, threads]`, then `launch(x)`
        by_name = configured.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if by_name is not None and not _is_kernel(file, by_name):
            continue
        site = by_name or node.func
        if not isinstance(site, ast.Subscript):
            continue
        head, config = site.value, site.slice
        if not isinstance(config, ast.Tuple) or not 2 <= len(config.elts) <= 4:
            continue
        name = head.id if isinstance(head, ast.Name) else getattr(head, "attr", "")
        kernel = file.defined(name, node.lineno) if isinstance(head, ast.Name) else None
        if kernel is not None and kernel.kind is Kind.KERNEL:
            yield Launch(name, node, tuple(config.elts), scope, kernel)
        elif kernel is None and name:
            yield Configured(name, node, tuple(config.elts), scope)


def _is_kernel(file: PyFile, site: ast.Subscript) -> bool:
    if not isinstance(site.value, ast.Name):
        return False
    kernel = file.defined(site.value.id, site.lineno)
    return kernel is not None and kernel.kind is Kind.KERNEL


class Values:
    """Integers and array sizes that the assignments of a scope (and the module) determine."""

    def __init__(self, file: PyFile, scope: Scope) -> None:
        self.file = file
        self.own: Bindings = {name: [(0, None)] for name in _parameters(scope)}
        for line, name, value in _assignments(scope):
            self.own.setdefault(name, []).append((line, value))
        self.outer: Bindings = {}
        if scope is not file.tree:
            for line, name, value in _assignments(file.tree):
                self.outer.setdefault(name, []).append((line, value))

    def definition(self, node: ast.expr) -> ast.expr | None:
        """What a name was last assigned above; the node itself when it is not a name.

        None when that is not one plain expression (a parameter, a loop variable, `+=`).
        """
        if not isinstance(node, ast.Name):
            return node
        if node.id in self.own:
            above = [value for line, value in self.own[node.id] if line < node.lineno]
            return above[-1] if above else None
        values = self.outer.get(node.id, [])
        return values[0][1] if len(values) == 1 else None

    def alternatives(self, node: ast.expr) -> list[int | None]:
        """The values of an integer expression that the module sets in several branches."""
        if isinstance(node, ast.Subscript):
            parts, at = self.definition(node.value), self.integer(node.slice)
            if isinstance(parts, (ast.Tuple, ast.List)) and at is not None and at < len(parts.elts):
                return self.alternatives(parts.elts[at])
        if isinstance(node, ast.Name) and node.id not in self.own:
            return [self.integer(value) for _, value in self.outer.get(node.id, [])]
        return [self.integer(node)]

    def integer(self, node: ast.expr | None, depth: int = 0) -> int | None:
        """The value of an integer expression, when the file determines it."""
        value = self._number(node, depth)
        return int(value) if value is not None and value == int(value) else None

    def _number(self, node: ast.expr | None, depth: int = 0) -> float | None:
        if node is None or depth > 12:
            return None
        if isinstance(node, ast.Constant):
            number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
            return node.value if number else None  # type: ignore[return-value]
        if isinstance(node, ast.Name):
            found = self.definition(node)
            return self._number(found, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in _INT_OPS:
            a, b = self._number(node.left, depth + 1), self._number(node.right, depth + 1)
            return None if a is None or b is None else _INT_OPS[type(node.op)](a, b)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            a = self._number(node.operand, depth + 1)
            return None if a is None else -a
        return self._call(node, depth)

    def _call(self, node: ast.expr, depth: int) -> float | None:
        if isinstance(node, ast.Attribute) and node.attr == "size":
            return self.size(node.value, depth + 1)
        if isinstance(node, ast.Subscript):
            return self._part(node, depth + 1)
        if not (isinstance(node, ast.Call) and len(node.args) == 1):
            return None
        name = self.file.code(node.func)
        if name == "len":
            shape = self.shape(node.args[0], depth + 1)
            return shape[0] if shape else None
        a = self._number(node.args[0], depth + 1)
        if a is None or name not in ("int", "math.ceil", "ceil", "math.floor", "np.ceil"):
            return None
        return math.ceil(a) if name.endswith("ceil") else math.floor(a)

    def _part(self, node: ast.Subscript, depth: int) -> int | None:
        """`t[0]` of a tuple, `x.shape[0]` of an array."""
        index = self.integer(node.slice, depth) if isinstance(node.slice, ast.expr) else None
        if index is None:
            return None
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            shape = self.shape(node.value.value, depth)
            return shape[index] if shape and -len(shape) <= index < len(shape) else None
        parts = self.definition(node.value)
        if not isinstance(parts, (ast.Tuple, ast.List)) or not index < len(parts.elts):
            return None
        return self.integer(parts.elts[index], depth)

    def size(self, node: ast.expr | None, depth: int = 0) -> int | None:
        """The number of elements of an array, when the file determines it."""
        shape = self.shape(node, depth)
        return math.prod(shape) if shape is not None else None

    def shape(self, node: ast.expr | None, depth: int = 0) -> tuple[int, ...] | None:
        """The shape of an array (or the length of a list), when the file determines it."""
        if node is None or depth > 12:
            return None
        if isinstance(node, ast.Name):
            return self.shape(self.definition(node), depth + 1)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._listed(node.elts, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.List):
            times = self.integer(node.right, depth + 1) if isinstance(node.op, ast.Mult) else None
            return (len(node.left.elts) * times,) if times is not None else None
        return self._made(node, depth + 1) if isinstance(node, ast.Call) else None

    def _listed(self, parts: list[ast.expr], depth: int) -> tuple[int, ...] | None:
        nested = [e for e in parts if isinstance(e, (ast.List, ast.Tuple))]
        if not nested:
            starred = any(isinstance(e, ast.Starred) for e in parts)
            return None if starred else (len(parts),)
        shapes = {self.shape(e, depth) for e in parts}
        inner = shapes.pop()
        return None if shapes or inner is None else (len(parts), *inner)

    def _made(self, node: ast.Call, depth: int) -> tuple[int, ...] | None:
        """The shape of the array that a call makes."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            return self._reshaped(node, depth)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
            same = self.shape(node.func.value, depth)
            flat = node.func.attr in ("ravel", "flatten") and same is not None
            return (math.prod(same),) if flat and same is not None else same
        name = self.file.callee(node)
        short = name.removeprefix("numpy.").removeprefix("numba.cuda.").removeprefix("cupy.")
        if short in _LIKE and node.args:
            return self.shape(node.args[0], depth)
        shape = node.args[0] if node.args else keyword(node, "shape")
        if short not in _SIZED or shape is None or (short == "arange" and len(node.args) > 1):
            return None
        return self.axes(shape, depth)

    def _reshaped(self, node: ast.Call, depth: int) -> tuple[int, ...] | None:
        given = node.args[0] if len(node.args) == 1 else ast.Tuple(node.args, ast.Load())
        shape = self.axes(given, depth)
        return shape if shape is not None and min(shape, default=0) >= 0 else None

    def axes(self, node: ast.expr | None, depth: int = 0) -> tuple[int, ...] | None:
        """A shape, a grid or a block as integers: one of them or a tuple."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self.shape(node.value, depth + 1)
        if isinstance(node, ast.Name):
            node = self.definition(node)
        parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
        values = [self.integer(p, depth + 1) for p in parts if p is not None]
        known = [v for v in values if v is not None]
        return tuple(known) if known and len(known) == len(parts) else None

    def product(self, node: ast.expr | None, depth: int = 0) -> int | None:
        """The product of a shape, a grid or a block: an integer or a tuple of them."""
        parts = self.axes(node, depth)
        return math.prod(parts) if parts is not None else None


def _parameters(scope: Scope) -> list[str]:
    if isinstance(scope, ast.Module):
        return []
    a = scope.args
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def _assignments(scope: Scope) -> Iterator[tuple[int, str, ast.expr | None]]:
    """Line, name and expression of each binding of a scope; None for what is not plain."""
    for node in own_nodes(scope):
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AugAssign):
            pairs = [(node.target, None)]
        elif isinstance(node, ast.AnnAssign):
            pairs = [(node.target, node.value)]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            pairs = [(node.target, None)]
        for target, value in pairs:
            for name, expression in _paired(target, value):
                yield target.lineno, name, expression


def _paired(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        for n, t in enumerate(target.elts):
            yield from _paired(t, value.elts[n] if same else None)  # type: ignore[union-attr]
