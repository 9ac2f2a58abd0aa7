"""Elements that divide by the one before, or by what it weighs."""

import numpy as np


def thomas(a, b, c, d):
    """A tridiagonal system by Thomas' algorithm."""
    n = d.size
    cp = np.zeros(n)
    dp = np.zeros(n)
    x = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def implicit_diffusion(u, rate):
    """A step of the heat equation in time, whose matrix is diagonally dominant."""
    n = u.size
    r = abs(rate)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = -r / (1 + r)
    d[0] = u[0] / (1 + r)
    for i in range(1, n):
        m = 1 + 2 * r + r * c[i - 1]
        c[i] = -r / m
        d[i] = (u[i] + r * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return d


def continued_fraction(a, b):
    y = b[0]
    for i in range(1, len(b)):
        y = b[i] + a[i] / y
    return y


def convergents(a):
    """A continued fraction of positive terms, from its end."""
    y = np.abs(a) + 1
    for i in range(len(a) - 2, -1, -1):
        y[i] = abs(a[i]) + 1 / y[i + 1]
    return y


def kalman(z, q, r):
    x = 0.0
    p = 1.0
    out = np.empty_like(z)
    for k in range(z.size):
        p = p + q * q
        g = p / (p + r * r + 1)
        x = x + g * (z[k] - x)
        p = (1 - g) * p
        out[k] = x
    return out


def ladder(series, across):
    """The resistance of a ladder of resistors up to each rung."""
    out = np.zeros_like(series)
    total = 1.0
    for i in range(len(series)):
        total = 1 / (1 / (total + series[i] ** 2) + across[i] ** 2)
        out[i] = total
    return out


def newton(x, a):
    """Of second degree: no quotient of linear functions."""
    y = np.ones_like(x)
    for i in range(1, len(x)):
        y[i] = y[i - 1] - (y[i - 1] ** 2 - a) / (2 * y[i - 1])
    return y
