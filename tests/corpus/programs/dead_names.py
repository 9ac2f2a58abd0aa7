"""Names that a loop binds anew, with and without a reader of the old value."""

import numpy as np


def new_in_every_iteration(x, n):
    w = x[1:]
    x[0] = w.sum()
    for i in range(n):
        w = x[i] + x
        x += w * 0.5
    return x


def read_after_the_loop(x, n):
    w = x * 2.0
    for i in range(n):
        w = x[i] + x
        x += w * 0.5
    return x + w


def read_before_bound(x, n):
    t = x * 3.0
    for _ in range(n):
        x += t
        t = x * 0.25
    return x


def bound_in_a_branch(x, n):
    t = x * 3.0
    for k in range(n):
        if k % 2 == 0:
            t = x * 0.25
        x += t
    return x


def two_sweeps(a, b):
    column = a[:, 0]
    carry = np.ndarray(a.shape[0], dtype=a.dtype)
    carry[:] = column
    for k in range(1, a.shape[1]):
        column = a[:, k] + b[:, k] * carry
        carry[:] = column
        a[:, k] = column
    for k in range(a.shape[1] - 2, -1, -1):
        column = a[:, k] - b[:, k] * carry
        carry[:] = column
        a[:, k] = column
    return carry


def last_row_total(x):
    row = x[0]
    total = 0.0
    while total < 10.0:
        row = x * 0.5 + 1.0
        total += row.sum() + 1.0
        x = row
    return total
