"""Functions that cannot become kernels; `corpus/inputs.py` says with which code."""

import hashlib
import json
import math
import pathlib

import numpy as np


def recurrence(x, a, b):
    """Truly sequential over the only axis."""
    for i in range(1, x.shape[0]):
        x[i] = a * x[i - 1] ** 2 + b[i]


def clipped_smoothing(x, alpha):
    s = np.empty_like(x)
    s[0] = x[0]
    for t in range(1, len(x)):
        s[t] = alpha * x[t] + (1 - alpha) * max(s[t - 1], 0.0)
    return s


def bubblesort(X):
    N = len(X)
    for end in range(N, 1, -1):
        for i in range(end - 1):
            cur = X[i]
            if cur > X[i + 1]:
                tmp = X[i]
                X[i] = X[i + 1]
                X[i + 1] = tmp


def backward_ratio(x):
    """Reads what an earlier iteration wrote."""
    for i in range(x.shape[0] - 1):
        x[i + 1] = x[i + 1] / x[i]


def singular_values(a):
    return np.linalg.svd(a)[1]


def sorted_copy(x):
    return np.sort(x)


def distinct(x):
    return np.unique(x)


def hash_rows(x):
    y = x * 2
    return hashlib.sha256(y.tobytes()).hexdigest()


def squares(x):
    """A generator."""
    for i in range(x.shape[0]):
        yield x[i] ** 2


def factorial(n):
    """Recursion."""
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def from_file(path):
    return np.loadtxt(path) * 2


def save(x, path):
    pathlib.Path(path).write_text(json.dumps(x.tolist()))


def evaluated(x, formula):
    return eval(formula, {"x": x, "np": np})


def comprehension(x):
    return [math.sqrt(v) for v in x]


def try_block(x):
    try:
        return x / x.sum()
    except ZeroDivisionError:
        return x


def object_method(model, x):
    return model.predict(x)


def text_column(names):
    return [name.upper() for name in names]


def changing_type(x):
    """One name, an array in one branch and text in the other."""
    result = "empty"
    if x.shape[0] > 0:
        result = x.sum()
    return result


def polynomial_fit(x, y):
    return np.polyfit(x, y, 2)


def random_walk(n):
    return np.cumsum(np.random.default_rng(0).standard_normal(n))


def perhaps_a_view_twice(z, steps):
    """What the store reaches is the argument, if no step was taken."""
    for _ in range(2):
        z = (z * z) if steps > 1 else z[::-1]
    z[0] = 7.0
    return z * 2.0
