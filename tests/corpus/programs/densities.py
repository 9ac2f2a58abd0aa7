"""Distributions and scores."""

import math
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray


def normal_pdf(x: NDArray[np.float64], mu: float, sigma: float) -> NDArray[np.float64]:
    return 1.0 / (sigma * np.sqrt(2 * np.pi)) * np.exp(-((x - mu) ** 2) / (2 * sigma**2))


def normal_logpdf(x, mu, sigma):
    return -0.5 * ((x - mu) / sigma) ** 2 - log(sigma * sqrt(2 * pi))


def laplace_pdf(x, loc: float = 0.0, scale: float = 1.0):
    return np.exp(-abs(x - loc) / scale) / (2 * scale)


def cauchy_pdf(x, x0, gamma):
    return 1.0 / (math.pi * gamma * (1 + ((x - x0) / gamma) ** 2))


def logistic_cdf(x, mu, s):
    return 0.5 + 0.5 * np.tanh((x - mu) / (2 * s))


def exponential_pdf(x, rate):
    return np.where(x >= 0, rate * np.exp(-rate * x), 0.0)


def pareto_pdf(x, alpha, xm=1.0):
    return np.where(x < xm, 0, alpha * xm**alpha / x ** (alpha + 1))


def maxwell(v, m, kT):
    norm = (m / (2 * math.pi * kT)) ** 1.5
    return norm * 4 * math.pi * v**2 * np.exp(-m * v**2 / (2 * kT))


def mixture(x, means, sigmas, weights):
    """A sum over components by broadcasting."""
    z = (x[:, None] - means) / sigmas
    return (weights * np.exp(-0.5 * z * z) / (sigmas * np.sqrt(2 * np.pi))).sum(axis=1)


def log_likelihood(x, mu, sigma):
    n = x.size
    return -n / 2 * np.log(2 * np.pi * sigma**2) - np.sum((x - mu) ** 2) / (2 * sigma**2)


def kde(points, samples, h):
    """Kernel density estimate with loops."""
    out = np.zeros_like(points)
    n = samples.shape[0]
    for i in range(points.shape[0]):
        s = 0.0
        for j in range(n):
            u = (points[i] - samples[j]) / h
            s += math.exp(-0.5 * u * u)
        out[i] = s / (n * h * math.sqrt(2.0 * math.pi))
    return out


def bivariate(x, y, rho):
    q = (x**2 - 2 * rho * x * y + y**2) / (1 - rho**2)
    return np.exp(-q / 2) / (2 * np.pi * np.sqrt(1 - rho**2))


def mahalanobis(x, mu, precision):
    d = x - mu
    return np.sqrt(((d @ precision) * d).sum(axis=1))


def entropy(p):
    return -(p * np.log(p)).sum(axis=-1)


def kl_divergence(p, q):
    return np.sum(np.where(p > 0, p * np.log(p / q), 0.0), axis=1)


def robust_z(x, center, scale):
    z = (x - center) / scale
    z[z > 3] = 3
    z[z < -3] = -3
    return z


def column_zscores_loop(x):
    n, m = x.shape
    out = np.empty((n, m))
    for j in range(m):
        col = x[:, j]
        out[:, j] = (col - col.mean()) / col.std()
    return out


def zscores_ddof_in_place(x):
    x -= x.mean(axis=0)
    x /= x.std(axis=0, ddof=1)


def zscores_safe(x):
    sd = x.std(axis=0)
    sd[sd == 0] = 1.0
    return (x - x.mean(axis=0)) / sd


def two_sample_t(a, b):
    va = a.var(ddof=1) / len(a)
    vb = b.var(ddof=1) / len(b)
    return (a.mean() - b.mean()) / np.sqrt(va + vb)
