"""CuPy: the user's source with `cp` in place of `np`, and our kernels for its loops."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from porter.target.cuda import Cuda


@dataclass(frozen=True)
class Cupy(Cuda):
    """Array operations are CuPy's, one launch or several for each of them."""

    name = "cupy"
    title = "CuPy for the NumPy functions of"
    templates = "cupy"
    rewrites: ClassVar[bool] = True
    keeps = False
    solvers = False
    engines = ("simulator", "ptx", "gpu")
    packages = frozenset({"cuda"})

    def replays(self) -> bool:
        """Its host functions have no loops around launches alone."""
        return False

    def imports(self, types: Collection[str], on_simulator: bool) -> list[str]:
        """What the kernels of loops need, if there are any."""
        return super().imports(sorted({*types} - {"cuda"}), on_simulator) if types else []
