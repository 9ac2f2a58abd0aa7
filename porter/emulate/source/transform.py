"""A kernel's source made into a function of one thread that Numba compiles for the CPU.

Names of `numba.cuda` become fields of the thread's context, subscripts become checked loads and
stores, barriers and warp operations become pauses, device functions get the context too.
Control flow, arithmetic and everything else stay as they were written.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numba import types

from porter.emulate.device.atomics import UPDATES
from porter.emulate.errors import Unsupported
from porter.emulate.source import cuda_names
from porter.emulate.source.expressions import (
    PREFIX,
    assign,
    expression,
    index_value,
    load,
    mark,
    place,
    statement,
)  # fmt: skip
from porter.emulate.source.scope import Cuda, Scope, is_device, python_function
from porter.emulate.source.sites import GRID, SITES, site

#: functions of `math` that give another type on a GPU, or that Numba has only there
_MATH = {
    math.floor: "_floor", math.ceil: "_ceil", math.trunc: "_trunc", math.fmod: "_fmod",
}  # fmt: skip
_SHAPES = ("shape", "strides")


@dataclass
class Thread:
    """The transformed function; `calls` are the device functions by their new names."""

    tree: ast.FunctionDef
    scope: Scope
    calls: dict[str, Callable[..., Any]] = field(default_factory=dict)
    sites: list[int] = field(default_factory=list)
    shared: int = 0
    allocates: bool = False
    fences: bool = False

    @property
    def pauses(self) -> bool:
        """Whether the function itself waits for other threads."""
        return any(SITES[number].kind for number in self.sites)


def transform(node: ast.FunctionDef, scope: Scope) -> Thread:
    """The function of one thread; raises `Unsupported`."""
    mark(node)
    thread = Thread(node, scope)
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise Unsupported("`*args` and keyword-only parameters", node.lineno)
    change = _Change(thread)
    body: list[ast.stmt] = []
    for each in node.body:
        made = change.visit(each)
        body += made if isinstance(made, list) else [made] if made else []
    node.body = body or [ast.copy_location(ast.Pass(), node)]
    node.args.args.insert(0, ast.copy_location(ast.arg(PREFIX + "_c"), node))
    node.decorator_list, node.returns = [], None
    ast.fix_missing_locations(node)
    return thread


class _Change(ast.NodeTransformer):
    def __init__(self, thread: Thread) -> None:
        self.thread, self.scope = thread, thread.scope
        self.grids: set[str] = set()
        self.temporaries = 0

    def _site(self, node: ast.AST, what: str, kind: str = "") -> int:
        number = site(self.thread.tree.name, getattr(node, "lineno", 0), what, kind)
        self.thread.sites.append(number)
        return number

    def _visit(self, node: ast.expr) -> ast.expr:
        made = self.visit(node)
        assert isinstance(made, ast.expr)
        return made

    # -- CUDA's names --------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A constant of CUDA, a field of one, or an attribute of something else."""
        found = self.scope.meaning(node)
        if isinstance(found, Cuda):
            if found.name in cuda_names.VALUES:
                return expression(cuda_names.VALUES[found.name], node, [])
            if not found.name.startswith("types") and not _is_type(found.name):
                raise Unsupported(f"`cuda.{found.name}`", node.lineno)
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name that came from `numba.cuda` by itself."""
        found = self.scope.meaning(node)
        if isinstance(found, Cuda) and found.name in cuda_names.VALUES:
            return expression(cuda_names.VALUES[found.name], node, [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of CUDA's, of a device function, or of something else."""
        if self._is_grid_sync(node):
            number = self._site(node, "grid.sync", GRID)
            return expression("_pause({site})", node, [], number)
        found = self.scope.meaning(node.func)
        if isinstance(found, Cuda):
            return self._cuda_call(found.name, node)
        own = next((name for f, name in _MATH.items() if f is found), None)
        if own is not None:
            return expression(own + "({all})", node, [self._visit(a) for a in node.args])
        below = python_function(found) if is_device(found) else None
        if below is not None:
            return self._device_call(below, node)
        return self.generic_visit(node)

    def _device_call(self, function: Callable[..., Any], node: ast.Call) -> ast.AST:
        name = f"{PREFIX}_device_{function.__name__}_{id(function)}"
        self.thread.calls[name] = function
        self.generic_visit(node)
        node.func = load(name, node)
        node.args.insert(0, load(PREFIX + "_c", node))
        return node

    def _cuda_call(self, name: str, node: ast.Call) -> ast.AST:
        for handler in (self._position, self._wait, self._atomic, self._array):
            made = handler(name, node)
            if made is not None:
                return made
        if name not in cuda_names.CALLS:
            raise Unsupported(f"`cuda.{name}`", node.lineno)
        self.thread.fences |= name in cuda_names.FENCES
        text = cuda_names.CALLS[name]
        return expression(text, node, [self._visit(a) for a in node.args])

    def _position(self, name: str, node: ast.Call) -> ast.AST | None:
        if name not in cuda_names.POSITIONS:
            return None
        count = ast.unparse(node.args[0]) if len(node.args) == 1 else ""
        if count not in ("1", "2", "3"):
            raise Unsupported(f"`cuda.{name}({count})`", node.lineno)
        return expression(cuda_names.POSITIONS[name][count], node, [])

    def _wait(self, name: str, node: ast.Call) -> ast.AST | None:
        if name not in cuda_names.WAITS:
            return None
        kind, text = cuda_names.WAITS[name]
        given = [self._visit(a) for a in (*node.args, *(k.value for k in node.keywords))]
        missing = cuda_names.DEFAULTS.get(name, [])[len(given) :]
        given += [expression(t, node, []) for t in missing]
        return expression(text, node, given, self._site(node, name, kind))

    def _atomic(self, name: str, node: ast.Call) -> ast.AST | None:
        if not name.startswith("atomic."):
            return None
        operation = name.partition(".")[2]
        arguments = [self._visit(a) for a in node.args]
        number = self._site(node, ast.unparse(node.args[0]))
        if operation == "compare_and_swap":
            arguments.insert(1, expression("0", node, []))
            operation = "cas"
        if operation not in UPDATES and operation != "cas":
            raise Unsupported(f"`cuda.{name}`", node.lineno)
        return expression(f"_atomic_{operation}({{all}}, {number}, _c)", node, arguments)

    def _array(self, name: str, node: ast.Call) -> ast.AST | None:
        if name not in ("shared.array", "local.array"):
            return None
        named = {k.arg: k.value for k in node.keywords}
        given = [*node.args, *(named[n] for n in ("shape", "dtype") if n in named)]
        if len(given) < 2:
            raise Unsupported(f"`cuda.{name}` without a dtype", node.lineno)
        arguments = [self._visit(a) for a in given[:2]]
        if name == "local.array":
            self.thread.allocates = True
            return expression("_local({0}, {1})", node, arguments)
        number = self._site(node, "shared.array")
        self.thread.shared += 1
        return expression("_shared({site}, {0}, {1}, {site}, _c)", node, arguments, number)

    # -- the grid as a group -------------------------------------------------------------

    def _is_grid_sync(self, node: ast.Call) -> bool:
        function = node.func
        if not (isinstance(function, ast.Attribute) and function.attr == "sync"):
            return False
        owner = function.value
        if isinstance(owner, ast.Name):
            return owner.id in self.grids
        return self._is_this_grid(owner)

    def _is_this_grid(self, node: ast.expr) -> bool:
        found = self.scope.meaning(node.func) if isinstance(node, ast.Call) else None
        return isinstance(found, Cuda) and found.name == "cg.this_grid"

    # -- subscripts ----------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A checked load."""
        of_shape = isinstance(node.value, ast.Attribute) and node.value.attr in _SHAPES
        if of_shape or _is_field(node):
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            raise Unsupported("this use of a subscript", node.lineno)
        number = self._site(node, ast.unparse(node.value))
        base, index = self._visit(node.value), self._index(node)
        return expression("_load({0}, {1}, {site}, _c)", node, [base, index], number)

    def _index(self, node: ast.Subscript) -> ast.expr:
        index = self._visit(index_value(node.slice))
        place(index, node)
        return index

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """An assignment; stores into arrays become statements of their own."""
        if self._is_this_grid(node.value):
            self.grids |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            return ast.copy_location(ast.Pass(), node)
        value = self._visit(node.value)
        first = node.targets[0]
        if len(node.targets) == 1 and isinstance(first, ast.Subscript):
            if not _is_field(first):
                return [self._store(first, value)]
            node.value, first.value = value, self._visit(first.value)
            return node
        if not any(isinstance(n, ast.Subscript) for t in node.targets for n in ast.walk(t)):
            node.value = value
            return node
        return self._unpacked(node, value)

    def _unpacked(self, node: ast.Assign, value: ast.expr) -> list[ast.stmt]:
        """`a[i], b = ...` and `a[i] = b = ...`: the value first, then its targets in order."""
        held = self._temporary()
        made: list[ast.stmt] = [assign(held, value, node)]
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                made.append(self._store(target, load(held, node)))
                continue
            later: list[ast.stmt] = []
            kept = self._names(target, later)
            made.append(ast.copy_location(ast.Assign([kept], load(held, node)), node))
            made += later
        return made

    def _names(self, target: ast.expr, later: list[ast.stmt]) -> ast.expr:
        """The target with names in place of subscripts, which are stored later."""
        if isinstance(target, ast.Subscript):
            name = self._temporary()
            later.append(self._store(target, load(name, target)))
            return ast.copy_location(ast.Name(name, ast.Store()), target)
        if isinstance(target, ast.Tuple | ast.List):
            target.elts = [self._names(e, later) for e in target.elts]
        return target

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt] | None:
        """An annotation says nothing to a kernel's compiler."""
        if node.value is None:
            return None
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """`a[i] += v`: a load and a store of one element."""
        target = node.target
        if not isinstance(target, ast.Subscript):
            node.value = self._visit(node.value)
            return node
        before: list[ast.stmt] = []
        number = self._site(target, ast.unparse(target.value))
        base = self._once(self._visit(target.value), before, node)
        index = self._once(self._index(target), before, node)
        pair = [base, index]
        old = expression("_load({0}, {1}, {site}, _c)", node, pair, number)
        value = self._visit(node.value)
        new = ast.copy_location(ast.BinOp(old, node.op, value), node)
        stored = expression("_store({all}, {site}, _c)", node, [new, *pair], number)
        return [*before, statement(stored, node)]

    def _once(self, value: ast.expr, before: list[ast.stmt], at: ast.AST) -> ast.expr:
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if all(isinstance(p, ast.Name | ast.Constant) for p in parts):
            return value
        name = self._temporary()
        before.append(assign(name, value, at))
        return load(name, at)

    def _store(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        number = self._site(target, ast.unparse(target.value))
        arguments = [value, self._visit(target.value), self._index(target)]
        stored = expression("_store({all}, {site}, _c)", target, arguments, number)
        return statement(stored, target)

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"{PREFIX}_t{self.temporaries}"


def _is_field(node: ast.Subscript) -> bool:
    """Whether a subscript is a field of a record."""
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


def _is_type(name: str) -> bool:
    return isinstance(getattr(types, name, None), types.Type)
