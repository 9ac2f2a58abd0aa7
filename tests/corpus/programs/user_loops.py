"""Loops over elements, written out."""

import math

import numpy as np


def square_in_place(x):
    for i in range(len(x)):
        x[i] = x[i] ** 2


def vector_add(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + y[i]


def double_2d(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] *= 2


def row_sum_loops(x):
    n, m = x.shape
    out = np.zeros(n)
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += x[i, j]
        out[i] = s
    return out


def row_max_loops(x):
    n, m = x.shape
    out = np.empty(n)
    for i in range(n):
        best = x[i, 0]
        for j in range(1, m):
            if x[i, j] > best:
                best = x[i, j]
        out[i] = best
    return out


def relu_if(x):
    y = np.zeros_like(x)
    for i in range(x.size):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = 0.1 * x[i]
    return y


def three_way(x):
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        if x[i] < -0.5:
            out[i] = -1
        elif x[i] > 0.5:
            out[i] = 1
        else:
            out[i] = 0
    return out


def skip_negative(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] < 0:
            continue
        out[i] = math.sqrt(x[i])
    return out


def zero_suppress(waveform, threshold):
    out = np.empty_like(waveform)
    for i in range(waveform.shape[0]):
        out[i] = 0 if waveform[i] < threshold else waveform[i]
    return out


def hypot_loop(x, y):
    res = np.empty(x.shape)
    for i in range(x.shape[0]):
        a = abs(x[i])
        b = abs(y[i])
        t = min(a, b)
        a = max(a, b)
        t = t / a
        res[i] = a * math.sqrt(1 + t * t)
    return res


def distance_loops(x, y):
    n = x.shape[0]
    m = y.shape[0]
    out = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            d = 0.0
            for k in range(x.shape[1]):
                diff = x[i, k] - y[j, k]
                d += diff * diff
            out[i, j] = np.sqrt(d)
    return out


def newton_sqrt(x):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        guess = 0.5 * (x[i] + 1.0)
        for _ in range(20):
            guess = 0.5 * (guess + x[i] / guess)
        y[i] = guess
    return y


def collatz(n):
    """Steps to one for every start below n."""
    steps = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        k = i
        c = 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            c += 1
        steps[i] = c
    return steps


def strided_store(x):
    out = np.zeros(2 * x.shape[0])
    for i in range(x.shape[0]):
        out[2 * i] = x[i]
        out[2 * i + 1] = -x[i]
    return out


def reverse_range(x):
    out = np.empty_like(x)
    n = len(x)
    for i in range(n - 1, -1, -1):
        out[n - 1 - i] = x[i]
    return out


def step_two(x):
    for i in range(0, x.shape[0], 2):
        x[i] = 0.0


def first_above(x, t):
    """First column over a limit in every row, -1 if there is none."""
    out = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        out[i] = -1
        for j in range(x.shape[1]):
            if x[i, j] > t:
                out[i] = j
                break
    return out


def prefix_within_rows(x):
    """A recurrence along columns: rows are independent."""
    n, m = x.shape
    for i in range(n):
        for j in range(1, m):
            x[i, j] += x[i, j - 1]


def sweep_columns(p, f):
    for j in range(1, p.shape[1]):
        p[:, j] = 0.5 * p[:, j - 1] + f[:, j]


def histogram_by_bins(x, nbins):
    """Every bin counts for itself, so that bins are independent."""
    counts = np.zeros(nbins, dtype=np.int64)
    for b in range(nbins):
        lo = b / nbins
        hi = (b + 1) / nbins
        counts[b] = np.sum((x >= lo) & (x < hi))
    return counts


def enumerate_scale(x):
    out = np.empty_like(x)
    for i, v in enumerate(x):
        out[i] = v * i
    return out


def gather(table, idx):
    out = np.empty(idx.shape[0])
    for i in range(idx.shape[0]):
        out[i] = table[idx[i]]
    return out
