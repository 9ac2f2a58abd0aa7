"""Functions that are elementwise over their leading axes, whatever they do along the last ones."""

import numpy as np


def norm_last(x, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    return (x - mu) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


def unit_vectors(v):
    return v / np.sqrt((v * v).sum(axis=-1))[..., None]


def quaternion_conjugate(q):
    return np.concatenate([-q[..., :3], q[..., 3:]], axis=-1)


def quaternion_product(q, r):
    """The real part is the last element: an axis of length 1 beside the vectors of length 3."""
    w = q[..., 3:] * r[..., 3:] - np.sum(q[..., :3] * r[..., :3], axis=-1, keepdims=True)
    v = q[..., 3:] * r[..., :3] + r[..., 3:] * q[..., :3] + np.cross(q[..., :3], r[..., :3])
    return np.concatenate([v, w], axis=-1)


def rotated(q, v):
    t = 2 * np.cross(q[..., :3], v)
    return v + q[..., 3:] * t + np.cross(q[..., :3], t)


def triple_product(a, b, c):
    return (a * np.cross(b, c)).sum(axis=-1)


def angle_between(a, b):
    dot = (a * b).sum(axis=-1)
    return np.arccos(dot / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def bounds(x):
    return np.stack([x.min(axis=-1), x.max(axis=-1)], axis=-1)


def bounds_first(x):
    return np.stack([x.min(axis=-1), x.max(axis=-1)])


def share_of_all(x):
    return x / x.sum(), x.shape[-1]


def centred_pair(x, y):
    """Only y is broadcast: the first result has the shape of x."""
    return x - x.mean(axis=-1, keepdims=True), (x * y).sum(axis=-1)


def joined(x, y):
    """Nothing is broadcast: NumPy joins arrays of equal shapes only."""
    return np.concatenate([x, 2 * y], axis=-1)


def weighted(x, w):
    return (x * w).sum(axis=-1) / w.sum()


def transform(points, matrix):
    return points @ matrix.T + 1.0


def steps_back(x, n):
    for _ in range(n):
        x = 0.5 * (x + np.roll(x, 1, axis=-1))
    return x
