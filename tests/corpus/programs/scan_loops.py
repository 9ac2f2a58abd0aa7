"""Running folds written as loops."""

import numpy as np


def sums_so_far(x):
    out = np.empty_like(x)
    acc = 0.0
    for i in range(len(x)):
        acc += x[i]
        out[i] = acc
    return out


def sums_before(x):
    """Without the element itself, and the sum of all."""
    out = np.empty_like(x)
    acc = 0.0
    for i in range(len(x)):
        out[i] = acc
        acc += x[i] * x[i]
    return out, acc


def sum_in_array(x):
    out = np.zeros_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]
    return out


def row_starts(counts):
    """Where each row of a sparse matrix starts."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    for i in range(len(counts)):
        start[i + 1] = start[i] + counts[i]
    return start


def compound_growth(rates, amount):
    value = np.empty(len(rates) + 1)
    value[0] = amount
    for t in range(len(rates)):
        value[t + 1] = value[t] * (1.0 + rates[t])
    return value


def peaks_so_far(x):
    top = x.copy()
    for i in range(1, len(x)):
        top[i] = np.maximum(top[i - 1], x[i])
    return top


def counted_so_far(x):
    """A sum of what holds, and of what does not."""
    above = np.zeros(len(x))
    below = np.zeros(len(x))
    up = 0.0
    down = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            up += x[i]
        down += 1.0
        above[i] = up
        below[i] = down - up
    return above, below


def means_so_far(x):
    out = np.empty(len(x))
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
        out[i] = total / (i + 1)
    return out


def smoothed(x, a):
    """A recurrence with a factor: not associative in what is kept."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + (1 - a) * x[i]
    return y


def sums_of_own_results(x):
    """Each sum reads what the loop stored."""
    out = np.zeros(len(x) + 1)
    acc = 0.0
    for i in range(len(x)):
        acc += out[i]
        out[i + 1] = acc + x[i]
    return out
