"""Statistics as people write them: weights, missing values, covariances, robust scores."""

import numpy as np


def zscore(x, ddof):
    """Distances from the mean in standard deviations."""
    return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)


def weighted_moments(x, w):
    mean = np.average(x, weights=w)
    var = np.average((x - mean) ** 2, weights=w)
    return mean, np.sqrt(var)


def weighted_columns(A, w):
    mean, total = np.average(A, axis=0, weights=w, returned=True)
    return mean * total


def fill_missing(A):
    """Missing values become their column's mean."""
    means = np.nanmean(A, axis=0)
    return np.where(np.isnan(A), means, A)


def missing_summary(x):
    return np.nanmin(x), np.nanmax(x), np.nanstd(x), np.count_nonzero(np.isnan(x))


def scale_to_range(A):
    low = np.nanmin(A, axis=1, keepdims=True)
    high = np.nanmax(A, axis=1, keepdims=True)
    return (A - low) / np.maximum(high - low, np.finfo(A.dtype).eps)


def column_covariance(A):
    return np.cov(A, rowvar=False)


def covariance_of_rows(x):
    """Of one row it is a number, and known when the array is."""
    table = np.cov(x)
    return table


def column_correlation(A):
    return np.corrcoef(A, rowvar=False)


def mahalanobis_terms(A, P):
    gap = A - A.mean(axis=0)
    return np.sqrt(np.einsum("ij,jk,ik->i", gap, P, gap))


def skew_and_kurtosis(x):
    centered = x - x.mean()
    m2 = np.mean(centered**2)
    return np.mean(centered**3) / m2**1.5, np.mean(centered**4) / m2**2 - 3.0


def mean_where_positive(A):
    return A.mean(axis=1, where=A > 0)


def trimmed(x, low, high):
    inside = (x >= low) & (x <= high)
    return x[inside].mean(), x[inside].std()


def chebyshev_distances(A, B):
    return np.linalg.norm(A - B, ord=np.inf, axis=1)


def pairwise_l1(x, y):
    return np.abs(np.subtract.outer(x, y)).sum(axis=1)


def table_of_maxima(x, y):
    return np.maximum.outer(x, y)


def three_way_minimum(x, y, z):
    return np.minimum.reduce([x, y, z])


def masked_update(x, y, out):
    np.divide(x, y, out=out, where=y != 0)
    return out


def accumulate_into(a, b, out):
    np.multiply(a, b, out)
    np.add(out, a, out)
    return np.sqrt(np.abs(out, out), out)


def log_odds(p):
    eps = np.finfo(p.dtype).eps
    q = np.clip(p, eps, 1 - eps)
    return np.log(q) - np.log1p(-q)


def converged(x, y):
    return np.allclose(x, y, rtol=1e-3)


def wrap_and_split(x):
    whole, rest = np.divmod(x, 2.5)
    fraction, integral = np.modf(x)
    return whole + rest, fraction - integral


def block_products(A, B):
    return np.kron(A, B)


def power_mean(x, p):
    return np.power(np.mean(np.abs(x) ** p), 1 / p)


def max_with_floor(A):
    return A.max(axis=0, initial=0.5)


def signal_to_noise(A):
    m = A.mean(axis=(1, 2))
    s = A.std(axis=(1, 2), ddof=1)
    return np.where(s == 0, 0, m / s)
