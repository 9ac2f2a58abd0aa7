"""Loops that carry several values, and arrays, from one iteration to the next."""

import numpy as np


def bursts(x):
    """The length and the sum of each run of positive numbers so far."""
    length = np.zeros(x.shape[0], dtype=np.int64)
    sums = np.zeros(x.shape[0])
    run = 0
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0:
            run += 1
            total += x[i]
        else:
            run = 0
            total = 0.0
        length[i] = run
        sums[i] = total
    return length, sums


def spread_so_far(x):
    """B. P. Welford: the mean and the variance of all numbers so far."""
    out = np.empty((2, x.shape[0]))
    n = 0
    mean = 0.0
    squares = 0.0
    for i in range(x.shape[0]):
        n = n + 1
        gap = x[i] - mean
        mean += gap / n
        squares += gap * (x[i] - mean)
        out[0, n - 1] = mean
        out[1, n - 1] = squares / n
    return out


def leaky_until_reset(x, reset, leak):
    """An integrator that begins again where it is told to."""
    out = np.empty(x.shape[0])
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.0 if reset[i] else leak * s + x[i]
        out[i] = s
    return out


def kept(x, least):
    """The numbers above a threshold, in order."""
    out = np.zeros(x.shape[0])
    n = 0
    for i in range(x.shape[0]):
        if x[i] > least:
            out[n] = x[i]
            n += 1
    return out, n


def parted(x, t):
    """Those below a threshold, and the others."""
    below = np.zeros(x.shape[0])
    others = np.zeros(x.shape[0])
    a = 0
    b = 0
    for i in range(x.shape[0]):
        if x[i] < t:
            below[a] = x[i]
            a += 1
        else:
            others[b] = x[i]
            b += 1
    return below[:a], others[:b]


def crossings(x, y):
    """Where one line crosses another."""
    where = np.zeros(x.shape[0], dtype=np.int64)
    k = 0
    above = x[0] > y[0]
    for i in range(1, x.shape[0]):
        now = x[i] > y[i]
        if now != above:
            where[k] = i
            k += 1
        above = now
    return where, k


def without_repeats(x):
    """The first of each run of equal numbers."""
    out = np.zeros(x.shape[0])
    out[0] = x[0]
    k = 1
    for i in range(1, x.shape[0]):
        if x[i] != x[i - 1]:
            out[k] = x[i]
            k += 1
    return out[:k]


def filled_forward(x):
    """NaN as the last number before it."""
    y = x.copy()
    for i in range(1, y.shape[0]):
        if np.isnan(y[i]):
            y[i] = y[i - 1]
    return y


def filled_in_place(x, first):
    last = first
    for i in range(x.shape[0]):
        if np.isnan(x[i]):
            x[i] = last
        else:
            last = x[i]


def two_averages(p, fast, slow):
    """The difference of two exponential averages."""
    a = np.empty(p.shape[0])
    b = np.empty(p.shape[0])
    a[0] = p[0]
    b[0] = p[0]
    for t in range(1, p.shape[0]):
        a[t] = a[t - 1] + fast * (p[t] - a[t - 1])
        b[t] = b[t - 1] + slow * (p[t] - b[t - 1])
    return a - b


def balance_of_volume(close, volume):
    out = np.zeros(close.shape[0])
    for i in range(1, close.shape[0]):
        if close[i] > close[i - 1]:
            out[i] = out[i - 1] + volume[i]
        elif close[i] < close[i - 1]:
            out[i] = out[i - 1] - volume[i]
        else:
            out[i] = out[i - 1]
    return out


def open_of_candles(o, c):
    """A sum that is multiplied."""
    h = np.empty(o.shape[0])
    h[0] = 0.5 * (o[0] + c[0])
    for i in range(1, o.shape[0]):
        h[i] = 0.5 * (h[i - 1] + c[i - 1])
    return h


def dry_days(rain):
    """Counted in the array, where a condition holds."""
    run = np.zeros(rain.shape[0], dtype=np.int64)
    for i in range(1, rain.shape[0]):
        if rain[i] <= 0:
            run[i] = run[i - 1] + 1
    return run


def predator_and_prey(steps, x, y):
    """Two arrays that weigh each other."""
    a = np.empty(steps)
    b = np.empty(steps)
    a[0] = x
    b[0] = y
    for i in range(1, steps):
        a[i] = a[i - 1] - 0.1 * b[i - 1]
        b[i] = b[i - 1] + 0.1 * a[i - 1]
    return a, b


def longest_wait(p):
    """The most iterations without a new highest value."""
    high = p[0]
    since = 0
    longest = 0
    for i in range(p.shape[0]):
        if p[i] >= high:
            high = p[i]
            since = 0
        else:
            since += 1
        if since > longest:
            longest = since
    return longest


def order_of_two_stores(x):
    """A position that may be stored into twice: the later value counts."""
    out = np.zeros(x.shape[0])
    n = 0
    for i in range(x.shape[0]):
        out[n] = x[i]
        if x[i] > 0:
            n += 1
    return out
