"""Reductions and products, as users write them."""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def product(a, b):
    return a @ b


def row_total(data, indptr):
    n = indptr.shape[0] - 1
    out = np.zeros(n, dtype=data.dtype)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += data[k]
    return out


def smooth(u):
    """One step of a smoothing in place: the right side is read before anything is written."""
    u[1:-1] = (u[:-2] + u[2:]) / 2
