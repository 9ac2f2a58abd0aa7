"""Loops over halves of tables."""

import numpy as np


def distances(x):
    n = x.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            d = np.abs(x[i] - x[j])
            out[i, j] = d
            out[j, i] = d
    return out


def lower(x, w):
    n = len(x)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            out[i, j] = x[i] * w[j]
    return out


def from_the_end(x):
    n = len(x)
    out = np.ones((n, n))
    for i in range(n):
        for j in range(n - i):
            out[i, j] = x[i] + x[i + j]
    return out


def other_start(x, k):
    n = len(x)
    out = np.zeros((n, n))
    for i in range(2, n):
        for j in range(i - 1, n):
            if x[j] > 0.0:
                out[i, j] = x[i] - x[j] * k
    return out


def band(x):
    n = len(x)
    out = np.zeros((n, n))
    for i in range(2, n - 2):
        for j in range(i - 2, i + 3):
            out[i, j] = x[i] * x[j]
    return out


def gram_upper(data, out):
    m = data.shape[1]
    for i in range(m):
        out[i, i:m] = data[:, i] @ data[:, i:m]
    return out


def gram_both(data):
    m = data.shape[1]
    out = np.zeros((m, m))
    for i in range(m - 1):
        out[i + 1 : m, i] = out[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return out


def gram_later(data):
    m = data.shape[1]
    out = np.zeros((m, m))
    for i in range(m):
        row = data[:, i] @ data[:, i:m]
        out[i, i:m] = row + 1.0
        out[i:m, i] = out[i:m, i] - row
    return out


def shifted(x):
    n = x.shape[0]
    out = np.ones((n, n))
    for i in range(n - 1):
        t = x[i + 1 :] * 2.0
        out[i, i + 1 :] = t
        out[i, : n - i - 1] = out[i, : n - i - 1] + t
    return out
