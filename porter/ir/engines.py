"""What runs a statement of the host that makes arrays."""

from __future__ import annotations

from enum import Enum


class Engine(Enum):
    """NumPy on the host, CuPy on the device, or a solver of the module's own.

    A solver's value is the helper of the module that launches its kernels.  It is given one array,
    in which it works.
    """

    NUMPY = "numpy"
    CUPY = "cupy"
    SOLVE = "_solve"
    DETERMINANT = "_determinant"
    CHOLESKY = "_cholesky"

    @property
    def on_device(self) -> bool:
        """Whether the arrays stay on the device."""
        return self is not Engine.NUMPY

    @property
    def is_solver(self) -> bool:
        """Whether it is of the module's own."""
        return self not in (Engine.NUMPY, Engine.CUPY)
