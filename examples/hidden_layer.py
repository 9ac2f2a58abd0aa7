"""One hidden layer of a neural network in three steps: scale, weigh, activate."""

import numpy as np
from numpy.typing import NDArray

GREYSCALE_MAX = 255.0


def hidden_layer(
    greyscales: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the activations of one layer for an array of grey values."""
    # bring the grey values into [0, 1]
    normalized = greyscales / GREYSCALE_MAX
    weighted = normalized * weights
    return np.tanh(weighted)
