"""One number out of an array."""

import numpy as np
from numpy import sum as npsum


def total(x):
    return x.sum()


def mean_square(x):
    return np.mean(x**2)


def rmse(prediction, target):
    return np.sqrt(np.mean((prediction - target) ** 2))


def dot_product(x, y):
    return np.dot(x, y)


def inner_at(x, y):
    return x @ y


def euclidean(x, y):
    return np.linalg.norm(x - y)


def frobenius(a):
    return np.sqrt(npsum(a * a))


def trace_loop(a):
    t = 0.0
    for i in range(a.shape[0]):
        t += a[i, i]
    return t


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def value_range(x):
    return x.max() - x.min()


def extremes(x):
    return x.min(), x.max(), x.argmin(), x.argmax()


def normalized(x):
    return x / np.sqrt(np.sum(x * x))


def standard_score(x):
    return (x - x.mean()) / x.std()


def count_above(x, t):
    return np.count_nonzero(x > t)


def fraction_inside(x, y):
    return np.mean(x * x + y * y <= 1.0)


def has_nan(x):
    return np.isnan(x).any()


def is_sorted(x):
    return np.all(x[1:] >= x[:-1])


def r_squared(y, f):
    residual = ((y - f) ** 2).sum()
    spread = ((y - y.mean()) ** 2).sum()
    return 1.0 - residual / spread


def variance_two_pass(x):
    m = x.sum() / x.size
    return ((x - m) ** 2).sum() / (x.size - 1)


def trapezoid(y, dx):
    return dx * (0.5 * y[0] + y[1:-1].sum() + 0.5 * y[-1])


def trapezoid_xy(y, x):
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1])) / 2


def total_variation(img):
    return np.abs(np.diff(img, axis=0)).sum() + np.abs(np.diff(img, axis=1)).sum()


def product_of_shifted(x):
    return np.prod(1.0 + 0.1 * x)


def naive_sum_loop(x):
    s = 0.0
    for v in range(x.shape[0]):
        s += x[v] * x[v]
    return s


def energy(u, dx):
    """Kinetic energy; host scalars mixed with a device reduction."""
    factor = 0.5 * dx**2
    return factor * np.sum(u**2)


def softmax_1d(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()
