"""Names that are a number here and an array there."""

import numpy as np


def array_in_both_branches(x, n):
    c = 0.0
    if n > 3:
        c = x * 2
    else:
        c = x * 3
        x = x + 1
    return x + c


def array_or_left(x, n):
    c = 0.0
    if n > 3:
        c = x * 2
    else:
        return x * 1.0
    return x + c


def left_with_the_array(x, n):
    c = 0.5
    if n > 3:
        c = x * 2
        return c
    return x + c


def array_used_in_its_branch(x, n):
    c = 0.0
    if n > 3:
        c = x * 2
        x = x + c
    return x * 1.0


def array_of_one_iteration(x):
    t = 0
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        t = x[i] * 2
        out[i] = t - t.max()
    return out


def summed_from_zero(x):
    """How sums of rows are written; what runs no iteration is a number."""
    total = 0
    for row in x:
        total = total + row
    return total / len(x)


def added_from_zero(x):
    total = 0.0
    for i in range(0, x.shape[-1], 4):
        total += x[..., i]
    return total


def two_sums(x, y):
    c = 0
    d = 0
    for i in range(y.shape[0]):
        c += y[i] * x
        d += c
    return c + d


def summed_in_a_while(x, n):
    c = 0.0
    while n > 0:
        c = c + x[:, n]
        n = n - 1
    return c


def array_in_one_branch(x, n):
    c = 0.0
    if n > 3:
        c = x * 2
    return x + c


def array_of_the_iteration_before(x, n):
    c = 0.0
    s = x * 0
    for i in range(n):
        s = s + c
        if i > 2:
            c = x * 2
    return s


def array_of_the_last_iteration(x):
    c = 0.0
    for i in range(x.shape[0]):
        c = x[i] * 2
    return c


def multiplied_by_an_array(x, n):
    c = x.sum()
    for _ in range(n):
        c = c * x
    return c
