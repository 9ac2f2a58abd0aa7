"""Running folds and recurrences along the rows of arrays."""

import numpy as np


def smoothed_channels(x, a):
    """Exponential smoothing of each channel."""
    y = np.empty_like(x)
    for c in range(x.shape[0]):
        y[c, 0] = x[c, 0]
        for t in range(1, x.shape[1]):
            y[c, t] = a * y[c, t - 1] + (1 - a) * x[c, t]
    return y


def sums_along_rows(x):
    out = np.empty_like(x)
    for c in range(x.shape[0]):
        total = 0.0
        for t in range(x.shape[1]):
            total += x[c, t]
            out[c, t] = total
    return out


def sums_in_place(x):
    for c in range(x.shape[0]):
        for t in range(1, x.shape[1]):
            x[c, t] += x[c, t - 1]


def gated(forget, given):
    """The state of each channel has factors of its own."""
    h = np.zeros_like(given)
    for c in range(given.shape[0]):
        s = given[c, 0]
        for t in range(given.shape[1]):
            s = forget[c, t] * s + given[c, t]
            h[c, t] = s
    return h


def discounted_returns(reward, done, gamma):
    """Backwards, and an episode ends where it is done."""
    out = np.zeros_like(reward)
    for c in range(reward.shape[0]):
        r = 0.0
        for t in range(reward.shape[1] - 1, -1, -1):
            r = gamma * r + reward[c, t]
            out[c, t] = r
            if done[c, t] > 0:
                r = 0.0
    return out


def drawdowns(price):
    """How far each price is below the highest one so far."""
    out = np.empty_like(price)
    for c in range(price.shape[0]):
        high = price[c, 0]
        for t in range(price.shape[1]):
            if price[c, t] > high:
                high = price[c, t]
            out[c, t] = price[c, t] - high
    return out


def batches_of_channels(x, a):
    y = np.empty_like(x)
    for b in range(x.shape[0]):
        for c in range(x.shape[1]):
            v = x[b, c, 0]
            for t in range(x.shape[2]):
                v += a[c] * (x[b, c, t] - v)
                y[b, c, t] = v
    return y


def leaky_down_columns(x, a):
    """Neighbouring threads have neighbouring columns: a thread for each is right."""
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        s = 0.0
        for t in range(x.shape[0]):
            s = a * s + x[t, c]
            y[t, c] = s
    return y


def integers_along_rows(x):
    out = np.zeros_like(x)
    for c in range(x.shape[0]):
        s = x[c, 0]
        for t in range(1, x.shape[1]):
            s = 3 * s + x[c, t]
            out[c, t] = s
    return out
