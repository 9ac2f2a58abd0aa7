"""Heat flow in a plate with fixed borders, by explicit time steps."""

import numpy as np
from numpy.typing import NDArray


def heat(u: NDArray[np.float64], alpha: float, steps: int) -> NDArray[np.float64]:
    """Return the temperatures after `steps` time steps from `u[y, x]`."""
    u = u.copy()
    new = u.copy()
    for _ in range(steps):
        # five-point Laplacian of the interior
        laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * laplacian
        u, new = new, u
    return u
