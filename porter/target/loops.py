"""Loops for the CPU that Numba compiles, the outermost ones in parallel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from porter.schedule.base import Schedule
from porter.schedule.loops.columns import Columns
from porter.schedule.loops.nested import Nested
from porter.schedule.loops.rows import LoopRows
from porter.schedule.loops.total import LoopTotal
from porter.target.base import Call, Target

#: the decorator of what calls a function of LLVM
INTRINSIC = "numba.extending.intrinsic"
_SIGNS = {"add": "+", "band": "&", "bor": "|", "bxor": "^"}


@dataclass(frozen=True)
class Loops(Target):
    """Arrays stay where they are; a launch is a call of a compiled function."""

    name = "loops"
    title = "Compiled loops for the NumPy functions of"
    templates = "loops"
    kernels = "loops"
    device = False
    prefix = "own_"
    scalar = "0"
    #: Numba reads an element of an argument once, before the loop of the threads
    sound = "not {error}.any()"
    helper = '@njit(cache=True, error_model="numpy")'
    serial = True
    host_products = True
    compiles_loops = True
    engines = ("cpu",)
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {
        "PARTS": ("64", "parts of a loop that threads share; how totals are rounded depends on it"),
        "GRAIN": ("20000", "elements for which threads are started in a loop of the host"),
        "COLUMNS": ("512", "columns whose sums are kept at a time"),
    }
    settings: ClassVar[Mapping[str, tuple[str, str, str]]] = {
        "SPIN": (
            "_own",
            'os.environ.setdefault("GOMP_SPINCOUNT", "1000")',
            "how long threads of loops wait before they leave their core to NumPy's own",
        ),
    }
    #: threads never work together
    schedules: ClassVar[Sequence[Schedule]] = (LoopTotal(), Columns(), LoopRows(), Nested())
    decorators = frozenset({"numba.njit", INTRINSIC})
    packages = frozenset({"intrinsic", "ir", "njit", "prange"})
    math: ClassVar[Mapping[str, str]] = {"fmod": "np.fmod"}
    magnitude: ClassVar[str] = "magnitude"
    vectors: ClassVar[Mapping[str, str]] = {
        name: f"vector_{name}" for name in ("exp", "expm1", "tanh", "log", "log1p")
    }
    folds: ClassVar[Mapping[str, str]] = {"sum": "plus", "max": "larger", "min": "smaller"}
    updates: ClassVar[Mapping[str, str]] = {"max": "maximum", "min": "minimum"}

    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        """What is used of Numba."""
        where = {"ir": "llvmlite", "intrinsic": "numba.extending"}
        own = [f"from {where[n]} import {n}" for n in ("ir", "intrinsic") if n in types]
        rest = sorted(set(types) - where.keys())
        return [*own[:1], *([f"from numba import {', '.join(rest)}"] if rest else []), *own[1:]]

    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        """An update; the loop around it is not parallel where others may update the element."""
        return updated(op, array, index, value, self.updates)

    def empty(self, shape: str, dtype: str) -> str:
        """`np.empty`."""
        return f"np.empty({shape}, {dtype})"

    def copied(self, array: str) -> str:
        """The array itself."""
        return array

    def launch(
        self, kernel: str, grid: str, block: str, arguments: Sequence[str], room: str = ""
    ) -> str:
        """A call."""
        return f"{kernel}({', '.join(arguments)})"

    # -- statements of the host function: nothing moves --------------------------------------

    def moved(self, array: str) -> Call:
        """An argument in the order of memory."""
        return Call(f"_contiguous({array})", ("_contiguous",))

    def made(self, array: str, read: Sequence[str]) -> Call:
        """A result of the host, apart from the arrays that it was made of."""
        return Call(f"_own({', '.join([array, *dict.fromkeys(read)])})", ("_own",))

    def no_dimensions(self, array: str) -> str:
        """With one dimension: Numba's threads get numbers in place of arrays without any."""
        return f"{array}.reshape(1)"

    def fetched(self, array: str) -> Call:
        """The array itself."""
        return Call(array)

    def host_copy(self, array: str) -> Call:
        """The argument itself."""
        return Call(array)

    def apart(self, array: str, written: str) -> Call:
        """A copy where both are one array."""
        return Call(f"_apart({array}, {written})", ("_apart",))

    def copied_back(self, array: str, host: str) -> Call:
        """What was stored into a copy of an argument."""
        return Call(f"_copy_back({array}, {host})", ("_copy_back",))

    def result(self, array: str, where: str, options: str = "", *, scalar: bool = False) -> Call:
        """An array as it is, a scalar as NumPy's."""
        if options:
            return Call(f"_result({array}{options})", ("_result",))
        return Call(f"{array}[()]" if scalar else array)

    def as_given(self, value: str, where: str) -> Call:
        """The value itself."""
        return Call(value)


def updated(op: str, array: str, index: str, value: str, updates: Mapping[str, str]) -> str:
    """The update of an element that no other thread has."""
    inside = index.removeprefix("(").removesuffix(")") if index.startswith("(") else index
    if op in _SIGNS:
        return f"{array}[{inside}] {_SIGNS[op]}= {value}"
    return f"{array}[{inside}] = {updates[op]}({array}[{inside}], {value})"
