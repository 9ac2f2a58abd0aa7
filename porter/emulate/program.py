"""Kernels compiled for the CPU: the function of one thread, and what runs many of them."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit, typeof
from numba.core.errors import NumbaError

from porter.emulate import helpers, threads
from porter.emulate.arrays import bare
from porter.emulate.context import FIRST_SHARED, PHASE, SLOT_FIELDS, USED, Context, Dim3
from porter.emulate.errors import Unsupported
from porter.emulate.expressions import PREFIX
from porter.emulate.scope import Scope, definition
from porter.emulate.sites import GRID, SITES
from porter.emulate.transform import Thread, transform

_STRAIGHT = """
def launch(report, head, table, blocks, threads, block_dim, grid_dim, {args}):
    {bare}
    for b in range(len(blocks)):
        block = Dim3(blocks[b, 0], blocks[b, 1], blocks[b, 2])
        table[USED] = 0
        table[FIRST_SHARED:] = 0
        for t in range(len(threads)):
            thread = Dim3(threads[t, 0], threads[t, 1], threads[t, 2])
            kernel(Context(thread, block, block_dim, grid_dim, False, report, head, 0), {args})
"""
_BEGIN = """
def begin(memory, size, slots, report, head, block, threads, block_dim, grid_dim, {args}):
    {bare}
    for t in range(len(threads)):
        thread = Dim3(threads[t, 0], threads[t, 1], threads[t, 2])
        at = slots + SLOT_BYTES * t
        context = Context(thread, block, block_dim, grid_dim, False, report, head, at)
        start(memory + t * size, kernel, (context, {args}))
"""
_ADVANCE = """
def advance(memory, size, order, orders, where, plain, table):
    turn = 0
    while True:
        for k in order:
            where[k] = step(memory + k * size)
        first = where[0]
        if first < 0 or not plain[first]:
            return
        for k in range(1, len(where)):
            if where[k] != first:
                return
        table[PHASE] += 1
        order = orders[turn]
        turn = (turn + 1) % len(orders)
"""
_NAMES = {
    "Dim3": Dim3, "Context": Context, "bare": bare, "start": threads.start,
    "USED": USED, "FIRST_SHARED": FIRST_SHARED, "PHASE": PHASE, "SLOT_BYTES": 8 * SLOT_FIELDS,
}  # fmt: skip
_OPTIONS = {"error_model": "numpy"}
_DIM = Dim3(np.int32(1), np.int32(1), np.int32(1))
_FLAGS = np.zeros(1, np.bool_)
_CONTEXT = Context(_DIM, _DIM, _DIM, _DIM, False, 0, 0, 0)


@dataclass
class Runner:
    """A kernel compiled for some argument types; `size` is that of a thread's state."""

    launch: Callable[..., None] | None = None
    begin: Callable[..., None] | None = None
    advance: Callable[..., None] | None = None
    size: int = 0


@dataclass
class Program:
    """A kernel and the device functions that it calls."""

    function: Callable[..., Any]
    names: dict[str, Any]
    compiled: dict[Callable[..., Any], tuple[Any, bool]] = field(default_factory=dict)
    runners: dict[tuple[Any, ...], Runner] = field(default_factory=dict)
    sites: list[int] = field(default_factory=list)
    shared: bool = False
    fences: bool = False
    compile_seconds: float = 0.0

    def __post_init__(self) -> None:
        thread, names = self._parts(self.function)
        self.pauses = thread.pauses or any(p for _, p in self.compiled.values())
        self.cooperative = any(SITES[s].kind == GRID for s in self.sites)
        options: dict[str, Any] = {}
        if self.pauses:
            # never reached: it makes the function a generator
            first = ast.parse(f"if {PREFIX}_c.never: yield 0").body[0]
            thread.tree.body.insert(0, first)
            options["pipeline_class"] = threads.Pausing
        self.kernel = njit(**_OPTIONS, **options)(_define(thread.tree, names, self.function))

    def _parts(self, function: Callable[..., Any]) -> tuple[Thread, dict[str, Any]]:
        scope = Scope(function)
        thread = transform(definition(function), scope)
        self.sites += thread.sites
        self.shared |= thread.shared > 0
        self.fences |= thread.fences
        called = {name: self._device(f)[0] for name, f in thread.calls.items()}
        return thread, scope.names | self.names | called

    def _device(self, function: Callable[..., Any]) -> tuple[Any, bool]:
        """A device function's dispatcher, and whether threads wait in it."""
        if function not in self.compiled:
            self.compiled[function] = (None, False)
            thread, names = self._parts(function)
            pauses = thread.pauses or any(self.compiled[f][1] for f in thread.calls.values())
            inline = {"inline": "always"} if pauses else {}
            made = njit(**_OPTIONS, **inline)(_define(thread.tree, names, function))
            self.compiled[function] = (made, pauses)
        if self.compiled[function][0] is None:
            raise Unsupported(f"`{function.__name__}` calls itself", 0)
        return self.compiled[function]

    def runner(self, args: tuple[Any, ...]) -> Runner:
        """The kernel compiled for the types of some arguments; raises `Unsupported`."""
        kinds = tuple(typeof(a) for a in args)
        if kinds not in self.runners:
            started = time.process_time()
            try:
                self.runners[kinds] = self._compile(kinds)
            except NumbaError as error:
                raise Unsupported(_reason(error)) from error
            finally:
                self.compile_seconds += time.process_time() - started
        return self.runners[kinds]

    def _compile(self, kinds: tuple[Any, ...]) -> Runner:
        self.kernel.compile((typeof(_CONTEXT), *kinds))
        one, table = np.zeros((1, 3), np.int32), np.zeros(1, np.int64)
        integer, grid, dim = typeof(0), typeof(one), typeof(_DIM)
        cells = typeof(table)
        if not self.pauses:
            launch = self._njit(_STRAIGHT, "launch", len(kinds))
            launch.compile((integer, integer, cells, grid, grid, dim, dim, *kinds))
            return Runner(launch=launch)
        (overload,) = [o for o in self.kernel.overloads.values() if o.signature.args[1:] == kinds]
        state = overload.signature.return_type
        begin = self._njit(_BEGIN, "begin", len(kinds))
        begin.compile((*[integer] * 5, dim, grid, dim, dim, *kinds))
        advance = self._njit(_ADVANCE, "advance", 0, step=threads.make_step(state))
        orders, flags = typeof(table[None]), typeof(_FLAGS)
        advance.compile((integer, integer, cells, orders, cells, flags, cells))
        return Runner(begin=begin, advance=advance, size=threads.state_size(state))

    def _njit(self, text: str, name: str, count: int, **more: Any) -> Any:
        args = [f"a{k}" for k in range(count)]
        bared = "\n    ".join(f"{a} = bare({a})" for a in args) or "pass"
        namespace = _NAMES | {"kernel": self.kernel} | more
        exec(text.format(args=", ".join(args), bare=bared), namespace)
        return njit(**_OPTIONS)(namespace[name])


def _define(tree: ast.FunctionDef, names: dict[str, Any], function: Callable[..., Any]) -> Any:
    module = ast.fix_missing_locations(ast.Module([tree], []))
    namespace = dict(names)
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), namespace)
    return namespace[tree.name]


def _reason(error: NumbaError) -> str:
    """The first line of what Numba says that is not about where it was."""
    lines = [line.strip(" -") for line in str(error).splitlines()]
    said = [
        x for x in lines if x and not x.startswith(("Failed in", "During", "There are", "File"))
    ]
    return " ".join((said[0] if said else type(error).__name__).split())[:200]


_PROGRAMS: dict[tuple[Callable[..., Any], int], Program] = {}


def program(function: Callable[..., Any], names: dict[str, Any] | None = None) -> Program:
    """The program of a kernel's Python function, made once; raises `Unsupported`."""
    names = helpers.PLAIN if names is None else names
    key = (function, id(names))
    if key not in _PROGRAMS:
        _PROGRAMS[key] = Program(function, names)
    return _PROGRAMS[key]
