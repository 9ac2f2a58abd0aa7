"""Lists with a value for each index, as long as the data."""

import numpy as np


def row_sums(indptr, data):
    return np.array([data[indptr[i] : indptr[i + 1]].sum() for i in range(len(indptr) - 1)])


def squares_and_places(x):
    return np.array([v * v + k for k, v in enumerate(x)])


def row_ranges(a):
    return np.array([row.max() - row.min() for row in a])


def outer_list(x, n, m):
    return np.array([[x[i] * j for j in range(m)] for i in range(n)])


def mean_distance(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True)) / len(x)


def window_means(x, w):
    return np.array([x[i : i + w].mean() for i in range(len(x) - w + 1)])


def largest_gap(x, y):
    return max(abs(x[i] - y[i]) for i in range(len(x)))


def all_and_any(x, t):
    return all(v < t for v in x), any(v < t for v in x)


def nearest(points, centres):
    return np.array([np.linalg.norm(centres - p, axis=1).argmin() for p in points])


def every_second(x):
    return np.array([x[i] for i in range(0, x.size, 2)])


def reversed_list(x):
    return np.array([x[i] for i in range(x.size - 1, -1, -1)])


def of_either_dtype(z):
    """NumPy makes int64 of a Python int among int8's, int8 of int8's only."""
    return np.array([2 if v > 0 else v for v in z])


def frames_of_any_width(x, w):
    """A negative width gives slices of other lengths."""
    return np.stack([x[i : i + w] for i in range(len(x) - w + 1)])


def with_a_condition(x):
    return np.array([v for v in x if v > 0])


def normalised_columns(a):
    return np.stack([a[:, j] / a[:, j].sum() for j in range(a.shape[1])], axis=1)


def rows_below(a):
    return np.vstack([row * 2 - row[0] for row in a])


def frames_side_by_side(x):
    return np.hstack([x[i : i + 3] * (i + 1) for i in range(len(x) - 2)])


def windows_as_columns(x):
    return np.column_stack([x[i : i + 2] for i in range(len(x) - 1)])


def outer_products(a, b):
    return np.concatenate([np.outer(p, b) for p in a], axis=1)


def numbers_below(x):
    return np.vstack([v + 1 for v in x]), np.hstack([v * v for v in x])


def deep_rows(a):
    return np.dstack([row + 1 for row in a])


def planes_behind(a):
    return np.stack([p[::-1] for p in a], axis=-1)


def joined_planes(a):
    return np.concatenate([p.T for p in a], axis=None, dtype=np.float32)


def rows_of_an_array(a):
    return np.vstack(a), np.hstack(a), np.column_stack(a)
