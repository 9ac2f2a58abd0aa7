"""Turns of sweeps in place: each sweep keeps its order, and the next begins before it ends."""

import numpy as np


def gauss_seidel(u, f, h, turns):
    n, m = u.shape
    for t in range(turns):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.25 * (around - h * h * f[i, j])


def sor(u, omega, turns):
    n, m = u.shape
    for t in range(turns):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                if new > u[i, j]:
                    u[i, j] += omega * (new - u[i, j])
                else:
                    u[i, j] = new
    return u


def nine_points(u, turns):
    n, m = u.shape
    for t in range(turns):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = (
                    u[i - 1, j - 1] + u[i - 1, j] + u[i - 1, j + 1]
                    + u[i, j - 1] + u[i, j] + u[i, j + 1]
                    + u[i + 1, j - 1] + u[i + 1, j] + u[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def backwards(u, turns):
    n, m = u.shape
    for t in range(turns):
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                u[i, j] = 0.5 * u[i, j] + 0.25 * (u[i + 1, j] + u[i, j + 1])


def one_axis_backwards(u, turns):
    n, m = u.shape
    for t in range(turns - 1, -1, -1):
        for i in range(1, n):
            for j in range(m - 2, -1, -1):
                u[i, j] = 0.5 * u[i, j] + 0.25 * (u[i - 1, j] + u[i, j + 1]) + t


def two_tables(u, v, turns):
    n, m = u.shape
    for t in range(1, turns):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i, j - 1] + v[i, j + 1] + v[i + 1, j])
                v[i, j] = 0.5 * (u[i, j] + v[i - 1, j]) / t


def rows_of_statements(u, turns):
    for t in range(turns):
        for i in range(1, u.shape[0] - 1):
            u[i, 1:-1] += u[i - 1, 1:-1] + u[i + 1, 2:]
            for j in range(1, u.shape[1] - 1):
                u[i, j] += 0.5 * u[i, j - 1]
                u[i, j] /= 3.0


def turns_of_distances(d, turns):
    """Fast sweeping: the smaller neighbours, and the first row that a turn begins with."""
    n, m = d.shape
    for t in range(turns):
        for i in range(1, n):
            for j in range(1, m):
                d[i, j] = min(d[i, j], d[i - 1, j] + 1.0, d[i, j - 1] + 1.0)


def from_the_end(u, turns):
    """What a turn begins with is what the one before has left at the end: no fronts."""
    n, m = u.shape
    for t in range(turns):
        for i in range(1, n):
            for j in range(1, m):
                u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1]) + u[n - 1, m - 1]


def rows_grow(u, turns):
    """The rows of a turn depend on it: a nest of two loops."""
    n, m = u.shape
    for t in range(min(turns, n)):
        for i in range(1, n - t):
            for j in range(1, m):
                u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1])


def with_a_count(u, turns):
    """What is counted in every turn."""
    n, m = u.shape
    total = 0.0
    for t in range(turns):
        for i in range(1, n):
            for j in range(1, m):
                u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1])
        total += u[n - 1, m - 1]
    return total


def streamed(F, n):
    """The names of an inner loop over arrays of literals are numbers in each of its turns."""
    right, down, weights = (
        np.array([0, 1, -1]),
        np.array([1, 0, 1]),
        np.array([2 / 3, 1 / 6, 1 / 6]),
    )
    for _ in range(n):
        for i, r, d in zip(range(3), right, down):
            F[:, :, i] = np.roll(F[:, :, i], r, axis=1)
            F[:, :, i] = np.roll(F[:, :, i], d, axis=0)
        rho = F.sum(axis=2)
        for i, w in zip(range(3), weights):
            F[:, :, i] += 0.5 * (rho * w - F[:, :, i])
    return F


def literals_that_change(x, n):
    """An element of an array of literals is none once it is stored into."""
    steps = np.array([1, 2, 3])
    for _ in range(n):
        x = x + steps[0] * 0.5
        steps[0] += steps[2]
    return x, steps


def literals_with_two_names(x, n):
    steps = np.array([0.5, 2.0])
    other = steps
    for _ in range(n):
        x = x * steps[1] + steps[0]
        other[1] = -other[1]
    return x


def last_of_a_loop(x, n):
    """What a loop over literals leaves behind is read in the next turn."""
    k = 0
    for _ in range(n):
        x = x + k
        for k in (1, 2, 3):
            x = x * k
    return x, k


def shifted_again(y):
    """The last column is read, but never stored."""
    for _ in range(3):
        y[:, :-1] = y[:, 1:]
    y[0] = np.roll(y[0], 1)
    y[0] = np.roll(y[0], 2)
    y[:, 0] = y[::-1, 0]
    y[:, 0] = y[::-1, 0] * 2.0
    return y
