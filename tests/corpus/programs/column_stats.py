"""Statistics over columns."""

import numpy as np
from numpy.typing import NDArray


def column_sums(x):
    return x.sum(axis=0)


def column_means_stds(x):
    return x.mean(axis=0), x.std(axis=0)


def standardize(data: NDArray[np.float64]):
    mu = data.mean(axis=0)
    sd = data.std(axis=0, ddof=1)
    return (data - mu) / sd


def scale_to_unit(x):
    return (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))


def demean(x):
    x -= x.mean(axis=0)


def column_max_index(x):
    return x.argmax(axis=0)


def weighted_mean(x, w):
    return (x * w[:, None]).sum(axis=0) / w.sum()


def second_moment(x):
    n = x.shape[0]
    return (x**2).sum(axis=0) / n


def covariance(x):
    n, d = x.shape  # noqa: RUF059
    c = x - x.mean(axis=0)
    return c.T @ c / (n - 1)


def correlation(x):
    z = (x - x.mean(0)) / x.std(0)
    return z.T.dot(z) / x.shape[0]


def column_loop(x):
    n, m = x.shape
    out = np.zeros(m)
    for j in range(m):
        out[j] = x[:, j].sum() / n
    return out


def skewness(x):
    centered = x - np.mean(x, axis=0)
    m2 = np.mean(centered**2, axis=0)
    m3 = np.mean(centered**3, axis=0)
    return m3 / m2**1.5


def any_nan_columns(x):
    return np.isnan(x).any(axis=0)


def count_nonzero_columns(x):
    return np.count_nonzero(x, axis=0)


def batch_norm(x, gamma, beta):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + 1e-5) * gamma + beta
