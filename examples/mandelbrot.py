"""Escape times of the Mandelbrot set."""

import numpy as np
from numpy.typing import NDArray


def mandelbrot(
    re: NDArray[np.float64], im: NDArray[np.float64], max_iterations: int
) -> NDArray[np.int64]:
    """Return how many iterations each point of the grid `re` by `im` survives."""
    escape = np.zeros((im.shape[0], re.shape[0]), dtype=np.int64)
    for row in range(im.shape[0]):
        for col in range(re.shape[0]):
            a = re[col]
            b = im[row]
            x = 0.0
            y = 0.0
            n = 0
            while n < max_iterations:
                if x * x + y * y > 4.0:
                    break
                x, y = x * x - y * y + a, 2.0 * x * y + b
                n += 1
            escape[row, col] = n
    return escape
