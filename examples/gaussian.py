"""The density of the normal distribution."""

import math

import numpy as np
from numpy.typing import NDArray

SQRT_2PI = math.sqrt(2.0 * math.pi)


def gaussian_pdf(
    x: NDArray[np.float64], mean: float = 0.0, sigma: float = 1.0
) -> NDArray[np.float64]:
    """Return the density of N(mean, sigma**2) at every element of `x`."""
    z = (x - mean) / sigma
    return np.exp(-0.5 * z**2) / (sigma * SQRT_2PI)
