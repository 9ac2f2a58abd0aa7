"""Functions whose results are Python's own numbers where their loops do not run."""

import numpy as np


def total(x):
    s = 0
    for v in x:
        s += v
    return s


def of_floats(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * 2
    return s


def product(x):
    p = 1
    for v in x:
        p *= v
    return p


def negative_start(x):
    s = -1.5
    for v in x:
        s = s + v
    return s


def count(x):
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            n += 1
    return n


def of_neighbours(x):
    s = 0
    for i in range(1, len(x)):
        s += x[i] - x[i - 1]
    return s


def several(x):
    s, p = 0, 1
    for v in x:
        s = s + v
        p *= v
    return s, p, x.sum()


def beside_an_array(x):
    y = x * 2
    s = 0
    for v in y:
        s += v
    return y, s


def computed_on(x):
    s = 0
    for v in x:
        s += v
    return s / 2 + 1


def handed_on(x):
    s = 0
    for v in x:
        s += v
    t = s * 3
    return t - 1


def root(x):
    s = 0.0
    for v in x:
        s += v * v
    return np.sqrt(s)


def builtin_sum(x):
    return sum(x)


def nested(x):
    s = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j]
    return s


def nested_beside_rows(x):
    s = 0
    for row in x:
        for v in row:
            s = s + v
    return s


FLAT = (
    total, of_floats, product, negative_start, count, of_neighbours, several, beside_an_array,
    computed_on, handed_on, root, builtin_sum,
)  # fmt: skip
NESTED = (nested, nested_beside_rows)
