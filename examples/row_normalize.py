"""Divide every row of a matrix by its own mean, as a loop and as one expression."""

import numpy as np
from numpy.typing import NDArray


def normalize(x: NDArray[np.float64]) -> None:
    """Divide each row of `x` by its mean, in place."""
    for i in range(x.shape[0]):
        x[i, :] = x[i, :] / x[i, :].mean()


def normalized(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `x` with each row divided by its mean."""
    return x / x.mean(axis=1, keepdims=True)
