"""Suppress the noise of a signal in place."""

import numpy as np
from numpy.typing import NDArray


def threshold(x: NDArray[np.float64], t: float) -> None:
    """Set every element of `x` below `t` to zero, in place."""
    x[x < t] = 0


def clip_outliers(x: NDArray[np.float64], limit: float) -> None:
    """Bring every element of `x` into [-limit, limit], in place."""
    too_large = np.abs(x) > limit
    x[too_large] = limit * np.sign(x[too_large])
