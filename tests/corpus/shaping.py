"""Arrays taken apart, put together and looked at through indices from data."""

import numpy as np


def gather_from_views(x, idx):
    """Negative positions count from the end of the view, not of the array behind it."""
    return x[1:][idx] + x[::-1][idx]


def gather_from_computed(x, idx):
    y = x * 2
    return y[idx] + np.flip(y)[idx]


def gather_from_counting(idx, n):
    table = np.arange(n) * 2
    return table[idx]


def store_through_asarray(x):
    """The argument itself for int64: the store is the caller's to see."""
    y = np.asarray(x, dtype=np.int64)
    y[0] = 1
    return y.sum()
