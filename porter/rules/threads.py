"""What depends on the thread in a kernel: names, conditions, subscripts."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.rules.model import Function, Kind, PyFile, assigned

THREAD = ("numba.cuda.grid", "numba.cuda.threadIdx", "numba.cuda.blockIdx", "numba.cuda.laneid")
_IN_BLOCK = ("numba.cuda.grid", "numba.cuda.threadIdx", "numba.cuda.laneid")
#: roots whose functions do not depend on the thread that calls them
_PURE = ("math", "cmath", "numpy", "numba", "operator")


@dataclass(frozen=True)
class Element:
    """`base[i, j]` or `base[i][j]`: the root name, the whole node, every index."""

    base: str
    node: ast.Subscript
    indices: tuple[ast.expr, ...]


def element(node: ast.AST) -> Element | None:
    """The element that a (chained) subscript of a name is; None for anything else."""
    indices: list[ast.expr] = []
    at = node
    while isinstance(at, ast.Subscript):
        here = at.slice
        indices = [*(here.elts if isinstance(here, ast.Tuple) else [here]), *indices]
        at = at.value
    if isinstance(at, ast.Name) and isinstance(node, ast.Subscript):
        return Element(at.id, node, tuple(indices))
    return None


@dataclass(frozen=True)
class Write:
    """A store to an element, and the statement that does it."""

    element: Element
    statement: ast.stmt
    value: ast.expr | None


class Threads:
    """Facts about one function that runs on the device.

    With `blocks_differ` false, what is the same for all threads of a block does not vary; with
    `unknown_differs` false, neither does what a function returns that this file does not hold.
    """

    def __init__(
        self,
        file: PyFile,
        function: Function,
        *,
        blocks_differ: bool = True,
        unknown_differs: bool = True,
    ) -> None:
        self.file = file
        self.function = function
        self._sources = THREAD if blocks_differ else _IN_BLOCK
        self._unknown = unknown_differs

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of every node of the function."""
        return {c: p for p in ast.walk(self.function.node) for c in ast.iter_child_nodes(p)}

    @cached_property
    def own_arrays(self) -> set[str]:
        """Names bound to shared, local or constant memory."""
        return self._memory("numba.cuda.shared", "numba.cuda.local", "numba.cuda.const")

    @cached_property
    def shared_arrays(self) -> set[str]:
        """Names bound to memory that the threads of a block share."""
        return self._memory("numba.cuda.shared")

    @cached_property
    def local_arrays(self) -> set[str]:
        """Names bound to memory of which each thread has its own."""
        return self._memory("numba.cuda.local")

    def _memory(self, *kinds: str) -> set[str]:
        return {
            name
            for name, value in assigned(self.function.nodes)
            if self.file.callee(value, self.function).startswith(kinds)
        }

    @cached_property
    def names(self) -> set[str]:
        """Names whose value may differ from thread to thread."""
        tainted: set[str] = set()
        while True:
            before = len(tainted)
            for node in self.function.nodes:
                for target, value in _bindings(node):
                    if self._varies(value, tainted):
                        tainted |= set(_target_names(target))
                        at = element(target)
                        tainted |= {at.base} if at and at.base in self.local_arrays else set()
            if len(tainted) == before:
                return tainted

    def bound_to(self, accepts: Callable[[ast.expr], bool]) -> set[str]:
        """Names that an assignment, of a tuple too, binds to such a value."""
        return {
            name
            for node in self.function.nodes
            if isinstance(node, ast.Assign) and accepts(node.value)
            for target in node.targets
            for name in _target_names(target)
        }

    @property
    def uses_index(self) -> bool:
        """Whether the function asks which thread it is, or calls what might."""
        return any(self._source(n) for n in self.function.nodes)

    def varies(self, node: ast.AST) -> bool:
        """Whether an expression may differ from thread to thread."""
        return self._varies(node, self.names)

    def _varies(self, node: ast.AST, tainted: set[str]) -> bool:
        return any(
            (isinstance(n, ast.Name) and n.id in tainted) or self._source(n) for n in ast.walk(node)
        )

    def _source(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.Attribute, ast.Name)):
            return self._asks(self.file.qualified(node, self.function))
        if not isinstance(node, ast.Call):
            return False
        name = self.file.qualified(node.func, self.function)
        if name is None:
            return self._unknown_callee(node)
        if name.startswith("numba.cuda."):
            atomic = name.startswith("numba.cuda.atomic")
            return atomic or "xoroshiro" in name or self._asks(name)
        return self._unknown and name.split(".")[0] not in _PURE

    def _asks(self, name: str | None) -> bool:
        # compared as a whole or up to a dot: cuda.gridsize is the same in every thread
        return name is not None and any(
            name == s or name.startswith(f"{s}.") for s in self._sources
        )

    def _unknown_callee(self, call: ast.Call) -> bool:
        if not isinstance(call.func, ast.Name):
            return False
        if hasattr(builtins, call.func.id):
            return False
        callee = self.file.defined(call.func.id, call.lineno)
        if callee is None or callee is self.function:
            return callee is None and self._unknown
        return Threads(self.file, callee).uses_index

    @cached_property
    def writes(self) -> list[Write]:
        """Every store to an element, in source order."""
        found = []
        for node in self.function.nodes:
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                targets = [node.target]
            for target in targets:
                for t in target.elts if isinstance(target, ast.Tuple) else [target]:
                    at = element(t)
                    if at is not None and isinstance(node, ast.stmt):
                        found.append(Write(at, node, getattr(node, "value", None)))
        return found

    def conditions(self, node: ast.AST) -> Iterator[ast.expr]:
        """Every condition under which a node is reached: enclosing tests, early exits above."""
        child = node
        parent = self.parents.get(child)
        while parent is not None and child is not self.function.node:
            if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and child is not parent.test:
                yield parent.test
            if isinstance(parent, ast.BoolOp):
                yield from parent.values[: parent.values.index(child)]  # type: ignore[arg-type]
            yield from _early_exits(parent, child)
            child, parent = parent, self.parents.get(parent)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside to the body of the function."""
        at = self.parents.get(node)
        while at is not None and at is not self.function.node:
            yield at
            at = self.parents.get(at)

    def loops(self, node: ast.AST) -> Iterator[ast.For]:
        """The `for` loops around a node."""
        return (at for at in self.around(node) if isinstance(at, ast.For))


def _early_exits(parent: ast.AST, child: ast.AST) -> Iterator[ast.expr]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if not isinstance(block, list) or child not in block:
            continue
        for before in block[: block.index(child)]:
            if isinstance(before, ast.If) and _leaves(before.body):
                yield before.test


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Continue, ast.Break, ast.Raise))


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            yield node.target, node.value
    elif isinstance(node, ast.For):
        yield node.target, node.iter


def _target_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for e in target.elts:
            yield from _target_names(e)
    elif isinstance(target, ast.Starred):
        yield from _target_names(target.value)


def kernels(file: PyFile) -> list[Function]:
    """The kernels of a file (device functions left out)."""
    return [f for f in file.functions if f.kind is Kind.KERNEL]
