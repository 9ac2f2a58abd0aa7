"""What engines do once for all children of a server: imports, and what a first compilation takes.

Numba sets itself up when it compiles for the first time, which takes from half a second to one.
Only a server imports this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, njit


def prepare(on: str, asked: int) -> None:
    """Make ready for an engine that was asked for so many times before.

    A second child shows that there may be more: then the first compilation pays.
    """
    if on == "emulator":
        # start-up: the simulator needs no emulator
        from porter.emulate.launch import launch
        from porter.verify.engines import emulation  # noqa: F401

        if asked == 1:
            launch(_turned, 1, 2, (np.zeros(2),), races=True)
    elif on == "ptx":
        # start-up: the simulator needs no machine
        from porter.verify.engines import machine  # noqa: F401
    elif on == "cpu" and asked == 1:
        # without threads: these would not be there after a fork
        njit(_sum).compile("float64(float64[::1])")


def _turned(x: Any) -> None:
    """A kernel with what most have: memory that is shared, a barrier, accesses."""
    kept = cuda.shared.array(2, "float64")
    i = cuda.threadIdx.x
    kept[i] = x[i]
    cuda.syncthreads()
    x[i] = kept[1 - i]


def _sum(x: Any) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total
