"""docs/add-a-target.md, followed: CUDA kernels that the host waits for, one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from porter.target.cuda import Cuda
from porter.target.registry import TARGETS
from tests.recipes.checks import outcome, verified


@dataclass(frozen=True)
class Waiting(Cuda):
    """An error of a kernel is raised by its own launch, for which blocks are small."""

    name = "cuda-waiting"
    title = "CUDA kernels, each waited for, for the NumPy functions of"
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = Cuda.sizes | {
        "THREADS": ("64", "threads of a block; a power of two")
    }

    def launch(self, kernel: str, grid: str, block: str, arguments: Sequence[str]) -> str:
        """The launch, and the wait for the stream."""
        return f"{super().launch(kernel, grid, block, arguments)}; cuda.synchronize()"


SOURCE = """
import numpy as np


def f(x):
    return x / x.sum(axis=1, keepdims=True)
"""


def main() -> None:
    TARGETS[Waiting.name] = Waiting()
    with tempfile.TemporaryDirectory() as folder:
        outcome(SOURCE, "f", "float64[:, :]", Path(folder), target=Waiting.name)
        text = (Path(folder) / "f_cuda.py").read_text("utf-8")
    assert "THREADS = 64" in text
    assert text.count("cuda.synchronize()") == text.count(", stream](") > 0
    verified(SOURCE, "f", "float64[:, :]", target=Waiting.name)


if __name__ == "__main__":
    main()
