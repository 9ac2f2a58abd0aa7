"""Ufuncs of Numba: a function of one element, for CUDA, for one thread of the CPU or for all."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from porter.schedule.base import Schedule
from porter.schedule.nodes import Plan
from porter.schedule.ufuncs.element import Element
from porter.schedule.ufuncs.expressible import check_elements
from porter.target.cuda import Cuda
from porter.target.loops import Loops

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
    elements = True
    serial = True
    schedules: ClassVar[Sequence[Schedule]] = (Element(),)
    decorators = frozenset({"numba.vectorize", "numba.cuda.jit"})
    eager = frozenset({"numba.vectorize"})
    packages = frozenset({"vectorize"})
    options = 'target="cuda"'

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
    decorators = frozenset({"numba.vectorize", "numba.njit"})
    eager = frozenset({"numba.vectorize"})
    packages = frozenset({"njit", "vectorize"})
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
