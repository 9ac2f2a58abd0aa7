"""Ufuncs of Numba: a function of one element, for CUDA, for one thread of the CPU or for all."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from porter.schedule.base import Schedule
from porter.schedule.nodes import Plan
from porter.schedule.ufuncs.core import Core, CoreRows, check_cores
from porter.schedule.ufuncs.element import Element
from porter.schedule.ufuncs.expressible import check_elements
from porter.target.cuda import Cuda
from porter.target.loops import INTRINSIC, Loops, updated

#: what `--ufunc-target` takes
KINDS = ("cuda", "cpu", "parallel")
_TITLE = "Ufuncs for the functions of"


@dataclass(frozen=True)
class Ufunc(Cuda):
    """Called with arrays on the device; a module compiles its ufuncs when it is imported."""

    name = "ufunc"
    title = _TITLE
    templates = "ufunc"
    kernels = "ufuncs"
    engines = ("cpu", "ptx")
    keeps = False
    solvers = False
    elements = True
    serial = True
    schedules: ClassVar[Sequence[Schedule]] = (Element(),)
    decorators = frozenset({"numba.vectorize", "numba.cuda.jit"})
    eager = frozenset({"numba.vectorize"})
    packages = frozenset({"vectorize"})
    options = 'target="cuda"'

    def replays(self) -> bool:
        """Its host functions have no loops around launches alone."""
        return False

    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        """`cuda` for transfers and helpers, and the decorator."""
        return [f"from numba import {', '.join(sorted({'cuda', *types}))}"]

    def simulated_math(self, tree: ast.Module) -> str:
        """None: the simulator has no ufuncs."""
        return ""

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch is no ufunc."""
        check_elements(plan)

    def called(
        self, kernel: str, grid: str, block: str, given: Sequence[str], made: Sequence[str],
        stored: Sequence[str],
    ) -> str:  # fmt: skip
        """A call that stores into an array of its own, or into one that it is given as well."""
        return f"{kernel}({', '.join(given)}, out={stored[0]}, stream=stream)"


@dataclass(frozen=True)
class Gufunc(Ufunc):
    """Functions of parts of arrays: what is done along the outer axes is left to Numba."""

    name = "gufunc"
    title = "Generalized ufuncs for the functions of"
    templates = "gufunc"
    kernels = "gufuncs"
    scalar = "0"
    schedules: ClassVar[Sequence[Schedule]] = (CoreRows(), Core())
    decorators = frozenset({"numba.guvectorize", "numba.cuda.jit"})
    eager = frozenset({"numba.guvectorize"})
    packages = frozenset({"guvectorize"})
    updates: ClassVar[Mapping[str, str]] = Loops.updates

    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        """An update of what one thread has."""
        return updated(op, array, index, value, self.updates)

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch is no generalized ufunc."""
        check_cores(plan)

    def called(
        self, kernel: str, grid: str, block: str, given: Sequence[str], made: Sequence[str],
        stored: Sequence[str],
    ) -> str:  # fmt: skip
        """A call with the arrays that it stores into."""
        return f"{kernel}({', '.join([*given, *made])}, stream=stream)"


@dataclass(frozen=True)
class CpuUfunc(Loops):
    """The same for the CPU, on one thread or, with `parallel`, on all."""

    parallel: bool = False

    name = "ufunc"
    title = _TITLE
    templates = "ufunc"
    kernels = "ufuncs"
    elements = True
    compiles_loops = False
    schedules: ClassVar[Sequence[Schedule]] = (Element(),)
    decorators = frozenset({"numba.vectorize", "numba.njit", INTRINSIC})
    eager = frozenset({"numba.vectorize"})
    packages = frozenset({"intrinsic", "ir", "njit", "vectorize"})
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {}

    @property
    def kind(self) -> str:
        """What Numba compiles for."""
        return "parallel" if self.parallel else "cpu"

    @property
    def full_name(self) -> str:
        """With what it compiles for."""
        return f"{self.name} {self.kind}"

    @property
    def options(self) -> str:  # type: ignore[override]
        """The decorator's keywords."""
        return f'target="{self.kind}", cache=True'

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch is no ufunc."""
        check_elements(plan)

    def called(
        self, kernel: str, grid: str, block: str, given: Sequence[str], made: Sequence[str],
        stored: Sequence[str],
    ) -> str:  # fmt: skip
        """A call that stores into an array of its own, or into one that it is given as well."""
        return f"{kernel}({', '.join(given)}, out={stored[0]})"


@dataclass(frozen=True)
class CpuGufunc(CpuUfunc):
    """Generalized ufuncs for the CPU."""

    name = "gufunc"
    title = Gufunc.title
    templates = "gufunc"
    kernels = "gufuncs"
    schedules: ClassVar[Sequence[Schedule]] = (CoreRows(), Core())
    decorators = frozenset({"numba.guvectorize", "numba.njit", INTRINSIC})
    eager = frozenset({"numba.guvectorize"})
    packages = frozenset({"guvectorize", "intrinsic", "ir", "njit"})

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch is no generalized ufunc."""
        check_cores(plan)

    def called(
        self, kernel: str, grid: str, block: str, given: Sequence[str], made: Sequence[str],
        stored: Sequence[str],
    ) -> str:  # fmt: skip
        """A call with the arrays that it stores into."""
        return f"{kernel}({', '.join([*given, *made])})"
