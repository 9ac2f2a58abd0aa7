"""All distances between two sets of points."""

import numpy as np


def pairwise_distances(x, y):
    """Return the Euclidean distance of every row of `x` to every row of `y`."""
    differences = x[:, None, :] - y[None, :, :]
    return np.sqrt((differences**2).sum(axis=2))
