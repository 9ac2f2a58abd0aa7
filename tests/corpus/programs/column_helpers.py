"""A function of one line that another one calls for each column or row of an array."""

import numpy as np


def _smoothed(x):
    out = np.empty_like(x)
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.5 * s * np.sin(x[i]) + x[i]
        out[i] = s
    return out


def smoothed_columns(x):
    out = np.empty_like(x)
    for col in range(x.shape[1]):
        out[:, col] = _smoothed(x[:, col])
    return out


def _rolling_mean(a, window, least):
    if least > window:
        raise ValueError("least must be <= window")
    out = np.empty_like(a, dtype=np.float64)
    sums = np.zeros_like(a)
    total = 0
    missing_so_far = np.zeros_like(a)
    missing = 0
    for i in range(a.shape[0]):
        if np.isnan(a[i]):
            missing = missing + 1
        else:
            total = total + a[i]
        missing_so_far[i] = missing
        sums[i] = total
        if i < window:
            length = i + 1 - missing
            inside = total
        else:
            length = window - (missing - missing_so_far[i - window])
            inside = total - sums[i - window]
        if length < least:
            out[i] = np.nan
        else:
            out[i] = inside / length
    return out


def rolling_means(a, window, least):
    out = np.empty_like(a, dtype=np.float64)
    for col in range(a.shape[1]):
        out[:, col] = _rolling_mean(a[:, col], window, least)
    return out


def _fed_back(x, k, scale):
    if k >= x.shape[0]:
        raise ValueError(f"k is {k}")
    if scale < 0:
        raise ValueError("scale must not be negative")
    out = np.zeros(x.shape[0])
    last = 0.0
    for i in range(k, x.shape[0]):
        last = np.tanh(last + x[i - k] * scale)
        out[i] = last
    return out


def fed_back_columns(x, scale):
    out = np.empty(x.shape)
    for c in range(x.shape[1]):
        out[:, c] = _fed_back(x[:, c], 2, scale)
    return out


def both_ways(x):
    a = np.empty_like(x)
    b = np.empty_like(x)
    for c in range(x.shape[0]):
        t = np.empty(x.shape[1])
        s = 0.0
        for i in range(x.shape[1]):
            s = np.cos(s) + x[c, i]
            t[i] = s
        a[c] = t
        b[c] = t[::-1]
    return a, b


def few_of_each(x):
    """A short array for each element."""
    out = np.empty((x.shape[0], x.shape[1], 4))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            w = np.zeros(4)
            for k in range(4):
                w[k] = np.cos(w[k - 1] + x[i, j])
            for k in range(4):
                out[i, j, k] = w[3 - k]
    return out


def added_to(x, out):
    """The place is read before it is stored into: the copy stays."""
    for c in range(x.shape[1]):
        t = np.empty(x.shape[0])
        s = out[0, c]
        for i in range(x.shape[0]):
            s = np.cos(s) * x[i, c]
            t[i] = s + out[x.shape[0] - 1 - i, c]
        out[:, c] = t


def until_negative(x):
    """An iteration that ends early stores nothing."""
    out = np.zeros_like(x)
    for c in range(x.shape[1]):
        t = np.zeros(x.shape[0])
        s = 0.0
        for i in range(x.shape[0]):
            s = np.sin(s) + x[i, c]
            t[i] = s
        if s < 0:
            continue
        out[:, c] = t
    return out


def longer_columns(x):
    """The element before the first one is the last one of the short array."""
    out = np.zeros((x.shape[0] + 1, x.shape[1]))
    for c in range(x.shape[1]):
        t = np.empty(x.shape[0])
        t[:] = 0.5
        for i in range(x.shape[0]):
            t[i] = np.cos(t[i - 1]) + x[i, c]
        out[:-1, c] = t
    return out
