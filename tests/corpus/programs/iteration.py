"""Loops that are not over range, and nests of unusual shape."""

import numpy as np


def zip_loop(x, y):
    out = np.zeros(len(x))
    for i, (a, b) in enumerate(zip(x, y)):  # noqa: B905
        out[i] = a * b
    return out


def row_iteration(a):
    out = np.empty(a.shape[0])
    for i, row in enumerate(a):
        out[i] = row.sum()
    return out


def rows_in_place(a):
    for row in a:
        row /= row.max()


def ndindex_loop(a):
    out = np.empty_like(a)
    for i, j in np.ndindex(a.shape):
        out[i, j] = a[i, j] ** 2
    return out


def while_index(x):
    """A counting while loop."""
    out = np.empty_like(x)
    i = 0
    while i < x.shape[0]:
        out[i] = 2 * x[i]
        i += 1
    return out


def sum_values(x):
    s = 0.0
    for v in x:
        s += v
    return s


def max_value(x):
    best = x[0]
    for v in x[1:]:
        if v > best:
            best = v
    return best


def count_values(x, t):
    n = 0
    for i in range(len(x)):
        if x[i] > t:
            n += 1
    return n


def mean_and_count(x):
    total = 0.0
    count = 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            total += x[i]
            count += 1
    return total / max(count, 1), count


def column_outer_loop(a):
    """The column loop outside."""
    n, m = a.shape
    out = np.zeros((n, m))
    for j in range(m):
        for i in range(n):
            out[i, j] = a[i, j] - a[i, 0]
    return out


def column_means_loop(a):
    out = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        out[j] = s / a.shape[0]
    return out


def accumulate_columns(a):
    """An accumulator array: rows in sequence, columns in parallel."""
    out = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        out += a[i]
    return out


def accumulate_elements(a):
    n, m = a.shape
    out = np.zeros(m)
    for i in range(n):
        for j in range(m):
            out[j] += a[i, j]
    return out


def two_loops(x):
    """Two loops after each other, the second reads the first's result."""
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    z = np.empty_like(x)
    for i in range(len(x) - 1):
        z[i] = y[i + 1] - y[i]
    z[-1] = 0
    return z


def loop_then_vector(x):
    y = np.zeros_like(x)
    for i in range(x.size):
        y[i] = np.exp(-(x[i] ** 2))
    return y / y.sum()


def symmetric_fill(x):
    """Writes both triangles."""
    n = x.shape[0]
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                d[i, j] = abs(x[i] - x[j])
    return d


def upper_pairs(x):
    n = x.shape[0]
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            d[i, j] = abs(x[i] - x[j])
            d[j, i] = d[i, j]
    return d


def nearest_neighbour(points):
    n = points.shape[0]
    best = np.full(n, np.inf)
    who = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            dx = points[i, 0] - points[j, 0]
            dy = points[i, 1] - points[j, 1]
            d = dx * dx + dy * dy
            if d < best[i]:
                best[i] = d
                who[i] = j
    return np.sqrt(best), who


def bisection(c):
    """A root of x**3 + x = c for every c."""
    lo = np.full_like(c, -10.0)
    hi = np.full_like(c, 10.0)
    for _ in range(40):
        mid = 0.5 * (lo + hi)
        below = mid**3 + mid < c
        lo = np.where(below, mid, lo)
        hi = np.where(below, hi, mid)
    return 0.5 * (lo + hi)


def series_exp(x, terms: int):
    """A sum of terms, each from the one before."""
    total = np.ones_like(x)
    term = np.ones_like(x)
    for k in range(1, terms):
        term = term * x / k
        total = total + term
    return total


def legendre(x, n: int):
    """Three-term recurrence over the order."""
    p0 = np.ones_like(x)
    p1 = x
    for k in range(2, n + 1):
        p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
    return p1


def chebyshev_table(x, n: int):
    """One row per order."""
    t = np.empty((n, x.shape[0]))
    t[0] = 1.0
    t[1] = x
    for k in range(2, n):
        t[k] = 2 * x * t[k - 1] - t[k - 2]
    return t


def convergence_per_element(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        v = x[i]
        steps = 0
        while abs(v) > 1e-3 and steps < 100:
            v *= 0.5
            steps += 1
        out[i] = steps
    return out


def local_array_per_row(a):
    """A row copied, changed and summed."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        row = a[i].copy()
        row[0] = 0.0
        out[i] = row.sum()
    return out


def break_on_sum(a, limit):
    """How many columns until the running sum passes the limit."""
    out = np.zeros(a.shape[0], dtype=np.int32)
    for i in range(a.shape[0]):
        s = 0.0
        j = 0
        for j in range(a.shape[1]):
            s += abs(a[i, j])
            if s > limit:
                break
        out[i] = j
    return out


def mean_in_a_loop(x):
    s = 0.0
    for v in x:
        s += v
    return s / len(x)


def variance_in_loops(x):
    s = 0.0
    for v in x:
        s += v
    mean = s / len(x)
    q = 0.0
    for v in x:
        q += (v - mean) ** 2
    return q / len(x)


def length_in_a_loop(x):
    s = 0.0
    for v in x:
        s += v * v
    return np.sqrt(s)


def distance_and_product(x, y):
    d = 0.0
    p = 0.0
    for i in range(len(x)):
        d += (x[i] - y[i]) ** 2
        p += x[i] * y[i]
    return d**0.5, p, p * 2


def sum_and_scaled(x):
    s = 0.5
    for v in x:
        s += v
    return s, x * s
