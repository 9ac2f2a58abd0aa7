"""Checks of the arguments by the user: they are made first, as they are written."""

import numpy as np


def same_shapes(x, y):
    assert x.shape == y.shape, "shapes"
    return x * y


def inner_sizes(x, y):
    if x.ndim != 2 or y.shape[0] != x.shape[1]:
        raise ValueError(f"shapes {x.shape} and {y.shape} do not match")
    return x @ y


def points_in_space(points):
    if points.shape[1] != 3:
        raise ValueError("points are (n, 3)")
    return np.sqrt((points**2).sum(axis=1))


def first_less_last(x, k):
    n = len(x)
    if k < 1 or k > n:
        raise ValueError("k must be in 1..n")
    return x[:k] - x[n - k :]


def behind_a_sum(x, y):
    """Nothing of the sum can be seen where the check raises."""
    total = np.sum(x)
    if len(x) != len(y):
        raise ValueError("lengths")
    return total * y


def behind_a_store(x, y):
    """The store is made although the check raises."""
    x[0] = 1.0
    if len(x) != len(y):
        raise ValueError("lengths")
    return x + y


def behind_what_raises(a, b):
    """The sum of both raises first."""
    d = a + b
    if a.shape[0] != b.shape[0]:
        raise TypeError("lengths differ")
    return d * 2.0


def weighted(x, w):
    if not len(x) == len(w):
        raise ValueError("lengths")
    if np.sum(w) <= 0:
        raise ValueError("weights")
    return np.sum(x * w) / np.sum(w)


def sizes_by_name(x, y):
    n = x.shape[0]
    m = y.shape[0]
    if n != m:
        raise ValueError(f"{n} and {m}")
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] * y[i]
    return out


def in_one_branch(x, y, n):
    if n > 2:
        if len(x) != len(y):
            raise ValueError("lengths")
        return x + y[0]
    return x - y[1]


def slopes(x, y):
    assert len(x) == len(y) and len(x) > 2
    out = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        out[i] = (x[i + 1] - x[i - 1]) / (y[i + 1] - y[i - 1])
    return out


def one_of_two(x, y, w):
    """Neither is known to be as long as the third."""
    if len(x) != len(w) and len(y) != len(w):
        raise ValueError("w is as long as x or y")
    return np.sum(x) + np.sum(y) + np.sum(w)


def square_windows(image, kernel):
    kh, kw = kernel.shape
    if kh % 2 == 0 or kw % 2 == 0:
        raise ValueError("odd sizes")
    if kh != kw:
        raise ValueError("square")
    h, w = image.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return out


def _validate(u, v):
    if u.shape != v.shape:
        raise ValueError(f"shapes differ: {u.shape} and {v.shape}")
    if u.ndim != 1:
        raise ValueError("1-D only")


def _as_floats(x, name):
    x = np.asarray(x, dtype=float)
    if x.ndim != 1:
        raise ValueError(f"{name} must be 1-D")
    return x


def _difference(u, v):
    if len(u) != len(v):
        raise ValueError(f"lengths {len(u)}, {len(v)}")
    return u - v


def in_a_helper(x, y):
    _validate(x, y)
    return np.sqrt(np.mean((x - y) ** 2))


def in_two_helpers(x, y):
    x = _as_floats(x, "x")
    y = _as_floats(y, "y")
    if x.size == 0:
        raise ValueError("empty")
    return np.mean(np.abs(x - y))


def about_what_is_computed(x, y):
    """The helper's names are other arrays than the arguments."""
    return _difference(x * 2, y) + 1


def with_exchanged_names(v, u):
    return _difference(u, v) + u.sum()
