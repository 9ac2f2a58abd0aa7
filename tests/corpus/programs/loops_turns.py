"""Turns of sweeps in place: each sweep keeps its order, and the next begins before it ends."""


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
