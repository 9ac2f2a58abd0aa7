"""Functions of people who come from Numba on the CPU."""

import math

import numba
import numpy as np
from numba import jit, njit, prange


@jit
def normalize(x):
    for i in range(x.shape[0]):
        x[i, :] = x[i, :] / x[i, :].mean()


@njit(parallel=True)
def parallel_add(x, y):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        out[i] = x[i] + y[i]
    return out


@njit
def hypot(x, y):
    res = np.empty_like(x)
    for i in range(len(x)):
        res[i] = math.sqrt(x[i] * x[i] + y[i] * y[i])
    return res


@numba.njit("float64[:](float64[:], float64)")
def scaled(x, a):
    return a * x


@jit(nopython=True)
def sum2d(arr):
    m, n = arr.shape
    result = 0.0
    for i in range(m):
        for j in range(n):
            result += arr[i, j]
    return result


@njit(fastmath=True)
def row_norms(a):
    n = a.shape[0]
    out = np.zeros(n)
    for i in numba.prange(n):
        acc = 0.0
        for j in range(a.shape[1]):
            acc += a[i, j] ** 2
        out[i] = math.sqrt(acc)
    return out


@njit
def clip_scalar(v, lo, hi):
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v


@njit
def clip_all(x, lo, hi):
    out = np.empty_like(x)
    for i in range(x.size):
        out[i] = clip_scalar(x[i], lo, hi)
    return out


@njit
def pulses(i, period, amplitude):
    return np.maximum(np.sin(2 * np.pi * i / period) - 0.3, 0.0) * amplitude


@njit(parallel=True)
def monte_carlo_inside(x, y):
    """Counts by a reduction variable."""
    inside = 0
    for i in prange(x.shape[0]):
        if x[i] ** 2 + y[i] ** 2 <= 1.0:
            inside += 1
    return 4.0 * inside / x.shape[0]


def _bounded(v, limits):
    if v > 0.5:
        v = 0.5 + np.log(v / 0.5)
    for k in range(limits.shape[0]):
        v = max(v, limits[k])
    return v


bounded = jit(_bounded, nopython=True, inline="always")


def bounded_rows(x, limits):
    """The helper is what Numba makes of a function, as the core of an estimator has it."""
    for t in range(x.shape[0]):
        x[t] = bounded(x[t], limits[t])
    return x


def _shrunk(v, by):
    return math.copysign(max(abs(v) - by, 0.0), v)


shrunk = numba.njit(fastmath=False)(_shrunk)


def shrunk_all(x):
    """A soft threshold."""
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = shrunk(x[i], 0.25)
    return out
