"""docs/add-a-target.md, followed: no kernels at all, but loops that Numba compiles for the CPU."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.schedules.elementwise import Elementwise
from porter.target.base import Target
from porter.target.registry import TARGETS
from tests.recipes.checks import outcome


class Nested(Elementwise):
    """A loop for each axis, the slowest outside."""

    summary = "one loop in another"

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        return (Grid(threads=("1",), guards=tuple(a.extent for a in kernel.axes)),)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        w = writers.writer(kernel)
        axes = [loop(w, a) for a in kernel.axes]
        with w.slot() as body:
            w.block(kernel.body)
        return {"k": w, "axes": axes, "body": body}


@dataclass(frozen=True)
class Loops(Target):
    """Every array is the host's; a launch is a call, and its one thread does everything."""

    name = "cpu-loops"
    title = "Compiled loops for the NumPy functions of"
    decorators = frozenset({"numba.njit"})
    #: threads never work together
    schedules: ClassVar[Sequence[Schedule]] = (Nested(),)

    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        return ["from numba import njit"]

    def atomic(self, op: str, array: str, index: str, value: str) -> str:
        sign = {"add": "+", "band": "&", "bor": "|", "bxor": "^"}.get(op)
        if sign is None:
            return f"{array}[{index}] = {op}({array}[{index}], {value})"
        return f"{array}[{index}] {sign}= {value}"

    def empty(self, shape: str, dtype: str) -> str:
        return f"np.empty({shape}, {dtype})"

    def copied(self, array: str) -> str:
        return array

    def launch(self, kernel: str, grid: str, block: str, arguments: Sequence[str]) -> str:
        return f"{kernel}({', '.join(arguments)})"


SOURCE = """
import numpy as np


def f(x, w):
    scaled = np.maximum(x, 0) * w
    scaled[1:] += x[:-1]
    return scaled / scaled.sum(axis=1, keepdims=True), np.cumsum(x, axis=0), x.max()
"""


def main() -> None:
    TARGETS[Loops.name] = Loops(folders=(Path(__file__).parent / "loops",))
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(SOURCE, "f", "float64[:, :], float64[:]", Path(folder), target=Loops.name)
        assert found.status == "converted", found.diagnostics
        text = (Path(folder) / "f_cuda.py").read_text("utf-8")
    assert "cuda" not in text.split('"""', 1)[1], text
    made: dict[str, object] = {}
    original: dict[str, object] = {}
    exec(text, made)
    exec(SOURCE, original)
    random = np.random.default_rng(0)
    for shape in ((1, 1), (7, 5), (33, 257)):
        x, w = random.normal(size=shape), random.uniform(1, 2, shape[1])
        results = made["f"](x, w)  # type: ignore[operator]
        for mine, wanted in zip(results, original["f"](x, w), strict=True):  # type: ignore[operator]
            np.testing.assert_allclose(mine, wanted, rtol=1e-9)


if __name__ == "__main__":
    main()
