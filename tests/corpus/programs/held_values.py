"""Loops with variables that keep what an earlier iteration gave them."""

import numpy as np


def fill_forward(a):
    out = np.empty_like(a)
    last = a[0]
    for i in range(a.shape[0]):
        if np.isnan(a[i]):
            out[i] = last
        else:
            last = out[i] = a[i]
    return out


def differences(x):
    d = np.empty_like(x)
    prev = 0.0
    for i in range(x.shape[0]):
        d[i] = x[i] - prev
        prev = x[i]
    return d, prev


def bars_since(signal):
    """How long ago a signal was high; -1 stands for before the first element."""
    out = np.empty(signal.shape[0], dtype=np.int64)
    start = -1
    for i in range(signal.shape[0]):
        if signal[i] > 0.5:
            start = i
        out[i] = i - start
    return out


def sample_and_hold(x, trigger, level):
    held = 0.0
    y = np.zeros_like(x)
    for i in range(2, len(x)):
        if trigger[i] > level and trigger[i - 1] <= level:
            held = np.sqrt(x[i] * x[i])
        y[i] = held
    return y, held


def split_sums(x, c):
    """Each branch adds to a sum of its own."""
    pos = 0.0
    n = 0
    up = np.empty_like(x)
    for i in range(x.shape[0]):
        if x[i] > c:
            pos += x[i]
        else:
            n += 1
        up[i] = pos / (n + 1)
    return up, pos, n


def one_from_another(x, y):
    a = 0.0
    b = 1.0
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        if x[i] > 0:
            a = y[i]
        if x[i] < 0:
            b = a
        out[i] = a + b
    return out


def equity(signal, returns):
    """What a position earns that signals open and close; today's signal counts tomorrow."""
    position = 0.0
    earned = np.empty_like(returns)
    total = 1.0
    for i in range(returns.shape[0]):
        total += position * returns[i]
        earned[i] = total
        if signal[i] > 0.5:
            position = 1.0
        elif signal[i] < -0.5:
            position = -1.0
    return earned


def equity_at_once(signal, returns):
    position = 0.0
    total = 1.0
    earned = np.empty_like(returns)
    for i in range(returns.shape[0]):
        position = signal[i] if signal[i] > 0.5 else position
        total += position * returns[i]
        earned[i] = total
    return earned


def sign_changes(x):
    last_sign = 0.0
    count = 0
    where = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if np.sign(x[i]) != last_sign:
            count += 1
        last_sign = np.sign(x[i])
        where[i] = count
    return where


def read_in_a_branch(x, y):
    """What is read before it is set, and after, in branches of their own."""
    total = 1.0
    last = 2.0
    count = 0
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i] > 0:
            out[i] = last + count
        total += y[i]
        if x[i] < 0.5:
            out[i] += total
        if y[i] > 0:
            last = y[i]
            count += 1
    return out


def chain(x):
    """The last two elements that were positive."""
    last, before = 0.0, 0.0
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i] > 0:
            before = last
            last = x[i]
        out[i] = last - before
    return out


def order_matters(x):
    count = 0
    step = 1
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0:
            step = i
            count += step
        out[i] = count
    return out


def fill_backward(a):
    out = np.empty_like(a)
    last = a[-1]
    for i in range(a.shape[0] - 1, -1, -1):
        if np.isnan(a[i]):
            out[i] = last
        else:
            last = out[i] = a[i]
    return out


def returns_to_go(r, gamma):
    """What is to be earned from each step on, discounted."""
    g = np.zeros_like(r)
    total = 0.0
    for t in range(len(r) - 1, -1, -1):
        total = r[t] + gamma * total
        g[t] = total
    return g


def products_to_go(x):
    out = np.zeros(x.shape[0])
    s = 0.5
    for i in range(x.shape[0] - 1, 0, -1):
        s += x[i] * x[i - 1]
        out[i] = s
    return out, s
