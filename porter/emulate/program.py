"""Kernels compiled for the CPU: the function of one thread, and what runs many of them."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit, typeof

from porter.emulate import helpers, threads
from porter.emulate.arrays import bare
from porter.emulate.context import FIRST_SHARED, SLOT_FIELDS, USED, Context, Dim3
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
            run((Context(thread, block, block_dim, grid_dim, False, report, head, 0), {args}))
"""
_BEGIN = """
def begin(memory, size, slots, report, head, block, threads, block_dim, grid_dim, {args}):
    {bare}
    for t in range(len(threads)):
        thread = Dim3(threads[t, 0], threads[t, 1], threads[t, 2])
        at = slots + SLOT_BYTES * t
        context = Context(thread, block, block_dim, grid_dim, False, report, head, at)
        start(memory + t * size, (context, {args}))
"""
_NAMES = {
    "Dim3": Dim3, "Context": Context, "bare": bare,
    "USED": USED, "FIRST_SHARED": FIRST_SHARED, "SLOT_BYTES": 8 * SLOT_FIELDS,
}  # fmt: skip
_OPTIONS = {"error_model": "numpy"}
_DIM = Dim3(np.int32(1), np.int32(1), np.int32(1))
_CONTEXT = Context(_DIM, _DIM, _DIM, _DIM, False, 0, 0, 0)


@dataclass
class Runner:
    """A kernel compiled for some argument types; `size` is that of a thread's state, `step` the
    address of the code that runs it."""

    launch: Callable[..., None] | None = None
    begin: Callable[..., None] | None = None
    step: int = 0
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
        if self.pauses:
            # never reached: it makes the function a generator
            first = ast.parse(f"if {PREFIX}_c.never: yield 0").body[0]
            thread.tree.body.insert(0, first)
        self.kernel = _define(thread.tree, names, self.function)

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
            made = njit(**_OPTIONS, **inline, no_cfunc_wrapper=True)(
                _define(thread.tree, names, function)
            )
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
            except Exception as error:
                # not every failure of Numba's is one of its own errors
                raise Unsupported(_reason(error)) from error
            finally:
                self.compile_seconds += time.process_time() - started
        return self.runners[kinds]

    def _compile(self, kinds: tuple[Any, ...]) -> Runner:
        kernel = threads.compiled(self.kernel, (typeof(_CONTEXT), *kinds), pausing=self.pauses)
        one, table = np.zeros((1, 3), np.int32), np.zeros(1, np.int64)
        integer, grid, dim = typeof(0), typeof(one), typeof(_DIM)
        if not self.pauses:
            launch = _runner(_STRAIGHT, "launch", len(kinds), run=threads.make_run(kernel))
            launch.compile((integer, integer, typeof(table), grid, grid, dim, dim, *kinds))
            return Runner(launch=launch)
        begin = _runner(_BEGIN, "begin", len(kinds), start=threads.make_start(kernel))
        begin.compile((*[integer] * 5, dim, grid, dim, dim, *kinds))
        # shared by all kernels; compiled here so that its time counts as compilation
        orders, flags = typeof(table[None]), typeof(np.zeros(1, np.bool_))
        cells = typeof(table)
        threads.advance.compile((*[integer] * 3, cells, orders, cells, flags, cells))
        size = threads.state_size(kernel.signature.return_type)
        return Runner(begin=begin, size=size, step=threads.step_address(kernel))


def _runner(text: str, name: str, count: int, **more: Any) -> Any:
    """One of the texts above as a dispatcher, for a kernel with so many arguments."""
    args = [f"a{k}" for k in range(count)]
    bared = "\n    ".join(f"{a} = bare({a})" for a in args) or "pass"
    namespace = _NAMES | more
    exec(text.format(args=", ".join(args), bare=bared), namespace)
    return njit(**_OPTIONS, no_cfunc_wrapper=True)(namespace[name])


def _define(tree: ast.FunctionDef, names: dict[str, Any], function: Callable[..., Any]) -> Any:
    module = ast.fix_missing_locations(ast.Module([tree], []))
    namespace = dict(names)
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), namespace)
    return namespace[tree.name]


def _reason(error: Exception) -> str:
    """The first line of what Numba says that is not about where it was."""
    lines = [line.strip(" -") for line in str(error).splitlines()]
    said = [
        x for x in lines if x and not x.startswith(("Failed in", "During", "There are", "File"))
    ]
    return " ".join((said[0] if said else type(error).__name__).split())[:200]


def forget() -> None:
    """Let go of all programs: whoever compiles many of them has no memory for all."""
    _PROGRAMS.clear()


_PROGRAMS: dict[tuple[Callable[..., Any], int], Program] = {}


def program(function: Callable[..., Any], names: dict[str, Any] | None = None) -> Program:
    """The program of a kernel's Python function, made once; raises `Unsupported`."""
    names = helpers.PLAIN if names is None else names
    key = (function, id(names))
    if key not in _PROGRAMS:
        _PROGRAMS[key] = Program(function, names)
    return _PROGRAMS[key]
