"""Arrays of different dimensions together."""

import numpy as np


def add_row(a, row):
    return a + row


def scale_columns(a, s):
    return a * s[None, :]


def scale_rows(a, s):
    return a * s[:, None]


def multiplication_table(x, y):
    return x[:, None] * y


def squared_distances(x, y):
    d = x[:, None] - y[None]
    return (d * d).sum(-1)


def distances_by_gram(x, y):
    xx = (x**2).sum(axis=1)[:, None]
    yy = (y**2).sum(axis=1)[None, :]
    return xx + yy - 2 * x @ y.T


def manhattan(x, y):
    return np.abs(x[:, np.newaxis, :] - y[np.newaxis, :, :]).sum(axis=-1)


def rbf_kernel(x, y, gamma):
    d2 = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-gamma * d2)


def nearest(points, centers):
    """Index of the nearest centre, as in k-means."""
    d = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return d.argmin(axis=1)


def ellipsis_shift(a):
    return a[..., 1:] - a[..., :-1]


def ellipsis_newaxis(x, w):
    return (x[..., None] * w).sum(axis=1)


def grid_function(x, y):
    return np.sin(x)[None, :] * np.cos(y)[:, None]


def radial(n, m):
    """A picture out of two integers."""
    y = np.arange(n)[:, None] - (n - 1) / 2
    x = np.arange(m)[None, :] - (m - 1) / 2
    return np.sqrt(x * x + y * y)


def line_samples(a, b, n):
    t = np.linspace(0, 1, n)
    return a + (b - a) * t


def hilbert_matrix(n):
    i = np.arange(1, n + 1)
    return 1.0 / (i[:, None] + i[None, :] - 1)


def pairwise_minimum(x, y):
    return np.minimum(x.reshape(-1, 1), y.reshape(1, -1))


def batch_bias(x, b):
    """3-D plus 1-D."""
    return x + b


def center_of_mass(pos, mass):
    return (pos * mass[:, None]).sum(axis=0) / mass.sum()


def forces(pos, mass, softening):
    """Gravity between all pairs."""
    dx = pos[None, :, 0] - pos[:, 0][:, None]
    dy = pos[None, :, 1] - pos[:, 1][:, None]
    inv = (dx**2 + dy**2 + softening**2) ** (-1.5)
    ax = (dx * inv * mass).sum(axis=1)
    ay = (dy * inv * mass).sum(axis=1)
    return ax, ay
