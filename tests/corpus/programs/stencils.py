"""Neighbour sums and differences."""

import numpy as np


def gradient_1d(f, dx):
    g = np.zeros_like(f)
    g[1:-1] = (f[2:] - f[:-2]) / (2 * dx)
    g[0] = (f[1] - f[0]) / dx
    g[-1] = (f[-1] - f[-2]) / dx
    return g


def laplacian(u):
    out = np.zeros(u.shape)
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return out


def laplacian_periodic(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def jacobi_sweep(a, b):
    b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0


def jacobi_loops(u):
    n, m = u.shape
    v = u.copy()
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return v


def moving_average_3(x):
    return (x[:-2] + x[1:-1] + x[2:]) / 3


def second_difference(x):
    return np.diff(x, n=2)


def diff_columns(x):
    return np.diff(x, axis=1)


def diff_last(x):
    return np.diff(x)


def upwind(q, c):
    return q - c * (q - np.roll(q, 1))


def average_pairs(x):
    return 0.5 * (x[::2] + x[1::2])


def interleave(a, b):
    out = np.empty(2 * a.shape[0], dtype=a.dtype)
    out[::2] = a
    out[1::2] = b
    return out


def mirror(x):
    return x[::-1] + 2 * x


def divergence(u, v):
    div = np.zeros_like(u)
    div[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2]) * 0.5 + (v[2:, 1:-1] - v[:-2, 1:-1]) * 0.5
    return div


def curl_with_neumann(u, v):
    w = np.zeros_like(u)
    w[1:-1, 1:-1] = v[1:-1, 2:] - v[1:-1, :-2] - u[2:, 1:-1] + u[:-2, 1:-1]
    w[0, :] = w[1, :]
    w[-1, :] = w[-2, :]
    w[:, 0] = w[:, 1]
    w[:, -1] = w[:, -2]
    return w


def heat_3d_step(a):
    b = a.copy()
    b[1:-1, 1:-1, 1:-1] = (
        0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )
    return b


def fourth_order(f):
    d = np.zeros_like(f)
    d[2:-2] = (-f[4:] + 8 * f[3:-1] - 8 * f[1:-3] + f[:-4]) / 12.0
    return d


def convolve_kernel(x, k):
    """Valid correlation of a signal with a short kernel."""
    n = x.shape[0]
    m = k.shape[0]
    out = np.zeros(n - m + 1)
    for i in range(n - m + 1):
        for j in range(m):
            out[i] += x[i + j] * k[j]
    return out


def downsample(img):
    return 0.25 * (img[::2, ::2] + img[1::2, ::2] + img[::2, 1::2] + img[1::2, 1::2])
