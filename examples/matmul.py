"""Matrix product."""

import numpy as np
from numpy.typing import NDArray


def matmul(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix product of `A` and `B`."""
    return A @ B
