"""Kernels compiled for the CPU: the function of one thread, and what runs many of them."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numba import njit, typeof, types

from porter.emulate.errors import Unsupported
from porter.emulate.source import entries, helpers, threads
from porter.emulate.source.expressions import PREFIX, assign, expression
from porter.emulate.source.scope import Scope, definition
from porter.emulate.source.sites import GRID, SITES
from porter.emulate.source.transform import Thread, transform
from porter.support.parsing import tree_of

_OPTIONS = {"error_model": "numpy"}


@dataclass
class Runner:
    """A kernel compiled for some argument types: the address of its code.

    `step` is the address of the code that runs a thread to its next pause, `size` that of its state
    in bytes; both are 0 where threads do not pause.
    """

    code: int
    step: int = 0
    size: int = 0


@dataclass
class Traits:
    """What a kernel does, or a device function that it calls."""

    sites: list[int] = field(default_factory=list)
    shared: bool = False
    allocates: bool = False
    fences: bool = False
    pauses: bool = False

    def add(self, thread: Thread) -> None:
        """Count one function."""
        self.sites += thread.sites
        self.shared |= thread.shared > 0
        self.allocates |= thread.allocates
        self.fences |= thread.fences
        self.pauses |= thread.pauses

    @property
    def cooperative(self) -> bool:
        """Whether the whole grid waits."""
        return any(SITES[s].kind == GRID for s in self.sites)


@dataclass
class Program:
    """A kernel and the device functions that it calls."""

    function: Callable[..., Any]
    names: dict[str, Any]
    compiled: dict[Callable[..., Any], tuple[Any, bool]] = field(default_factory=dict)
    runners: dict[tuple[Any, ...], Runner] = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)
    compile_seconds: float = 0.0

    def __post_init__(self) -> None:
        thread, names = self._parts(self.function)
        if self.traits.pauses:
            # never reached: it makes the function a generator
            first = tree_of(f"if {PREFIX}_never({PREFIX}_c): yield 0").body[0]
            thread.tree.body.insert(0, first)
        self.tree, self.names_within = thread.tree, names

    def _parts(self, function: Callable[..., Any]) -> tuple[Thread, dict[str, Any]]:
        scope = Scope(function)
        thread = transform(definition(function), scope)
        self.traits.add(thread)
        called = {name: self._device(f)[0] for name, f in thread.calls.items()}
        return thread, scope.names | self.names | called

    def _device(self, function: Callable[..., Any]) -> tuple[Any, bool]:
        """A device function's dispatcher, and whether threads wait in it."""
        if function not in self.compiled:
            self.compiled[function] = (None, False)
            thread, names = self._parts(function)
            pauses = thread.pauses or any(self.compiled[f][1] for f in thread.calls.values())
            inline = {"inline": "always"} if pauses else {}
            options = _OPTIONS | {"no_cfunc_wrapper": True, "pipeline_class": threads.Straight}
            made = njit(**options, **inline)(_define(thread.tree, names, function))
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
                # launches that are watched have few threads
                with threads.optimised(fully=self.names is helpers.PLAIN):
                    self.runners[kinds] = self._compile(kinds)
            except Exception as error:
                # not every failure of Numba's is one of its own errors
                raise Unsupported(_reason(error)) from error
            finally:
                self.compile_seconds += time.process_time() - started
        return self.runners[kinds]

    def _compile(self, kinds: tuple[Any, ...]) -> Runner:
        given = (types.int64, entries.Arguments(kinds))
        function = self._function(kinds)
        kernel = threads.compiled(
            function, given, pausing=self.traits.pauses, memory=self.traits.allocates
        )
        code = threads.code_address(kernel)
        # shared by all kernels; compiled here so that its time counts as compilation
        with threads.optimised(fully=True):
            entries.enter.compile((types.int64, types.int64))
        if not self.traits.pauses:
            return Runner(code)
        cells, flags, rows = types.int64[::1], types.boolean[::1], types.int64[:, ::1]
        with threads.optimised(fully=True):
            threads.advance.compile((*[types.int64] * 3, cells, rows, cells, flags, cells))
        size = threads.state_size(kernel.signature.return_type)
        return Runner(code, threads.step_address(kernel), size)

    def _function(self, kinds: tuple[Any, ...]) -> Any:
        """The function of a thread's cells, which takes the kernel's arguments from memory."""
        tree, names = self.tree, self.names_within
        parameters = [a.arg for a in tree.args.args[1:]]
        if len(parameters) != len(kinds):
            raise Unsupported(f"{len(parameters)} parameters and {len(kinds)} arguments")
        taken: list[ast.stmt] = []
        for k, (name, kind) in enumerate(zip(parameters, kinds, strict=True)):
            # of None the compiler knows which branches are left
            text = "None" if isinstance(kind, types.NoneType) else f"_argument{k}(_a, _c)"
            taken.append(assign(name, expression(text, tree, []), tree))
            names = names | {f"{PREFIX}_argument{k}": entries.argument(k)}
        both = [ast.arg(f"{PREFIX}_c"), ast.arg(f"{PREFIX}_a")]
        given = ast.arguments([], both, None, [], [], None, [])
        made = ast.FunctionDef(tree.name, given, [*taken, *tree.body], [], None)
        return _define(ast.copy_location(made, tree), names, self.function)


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
