"""Functions whose kernels have what the examples' have not: atomics, scans, minima, views."""

import numpy as np


def histogram(bins, weights, count):
    """Return the sum of the weights in each bin."""
    out = np.zeros(count)
    for i in range(bins.shape[0]):
        out[bins[i]] += weights[i]
    return out


def limited(x, low, high):
    """Return the absolute values, brought into [low, high]."""
    return np.minimum(np.maximum(np.abs(x), low), high)


def smooth(u):
    """Replace the interior by the mean of its neighbours, in place."""
    u[1:-1] = (u[:-2] + u[2:]) / 2


def running(x):
    """Return the running sums."""
    return np.cumsum(x)


def spread(x):
    """Return the difference between the largest and the smallest element, and the mean."""
    return np.max(x) - np.min(x), np.mean(x)


def transposed_difference(a):
    """Return how far a matrix is from its transpose."""
    return a - a.T
