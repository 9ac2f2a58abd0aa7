"""Recurrences along one axis, the others in parallel."""

import numpy as np


def deriche_rows(x, a, b):
    y1 = np.zeros_like(x)
    y2 = np.zeros_like(x)
    y1[:, 0] = a * x[:, 0]
    for j in range(1, x.shape[1]):
        y1[:, j] = a * x[:, j] + b * y1[:, j - 1]
    y2[:, -1] = a * x[:, -1]
    for j in range(x.shape[1] - 2, -1, -1):
        y2[:, j] = a * x[:, j] + b * y2[:, j + 1]
    return y1 + y2


def columns_downwards(x, f):
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = 0.5 * x[i - 1, j] + f[i, j]


def column_outer(x):
    n, m = x.shape
    for j in range(m):
        for i in range(1, n):
            x[i, j] += x[i - 1, j]


def adi_step(u, a, b):
    """Sweeps along both axes, the second one backwards."""
    n, m = u.shape
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    v = np.zeros_like(u)
    for j in range(1, m - 1):
        p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
        q[1:-1, j] = (u[1:-1, j] - a * q[1:-1, j - 1]) / (a * p[1:-1, j - 1] + b)
    for i in range(n - 2, 0, -1):
        v[i, 1:-1] = p[i, 1:-1] * v[i + 1, 1:-1] + q[i, 1:-1]
    return v


def garch(r, omega, alpha, beta):
    """A variance recursion per series."""
    n, t = r.shape
    h = np.empty_like(r)
    for i in range(n):
        h[i, 0] = omega / (1.0 - alpha - beta)
        for k in range(1, t):
            h[i, k] = omega + alpha * r[i, k - 1] ** 2 + beta * h[i, k - 1]
    return h


def kalman_scalar(z, q, r):
    """A scalar Kalman filter for each series."""
    n, t = z.shape
    out = np.zeros((n, t))
    for i in range(n):
        x = 0.0
        p = 1.0
        for k in range(t):
            p = p + q
            gain = p / (p + r)
            x = x + gain * (z[i, k] - x)
            p = (1 - gain) * p
            out[i, k] = x
    return out


def ema_columns(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, x.shape[0]):
        out[t] = alpha * x[t] + (1 - alpha) * out[t - 1]
    return out


def prefix_max_rows(x):
    out = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            out[i, j] = max(out[i, j], out[i, j - 1])
    return out


def horner(coeffs, x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        v = 0.0
        for k in range(coeffs.shape[0] - 1, -1, -1):
            v = v * x[i] + coeffs[k]
        out[i] = v
    return out


def horner_vector(coeffs, x):
    y = np.zeros_like(x)
    for c in coeffs:
        y = y * x + c
    return y


def iir_filter(x, b0, b1, a1):
    """One filter per channel, time along the first axis."""
    t, c = x.shape
    y = np.zeros_like(x)
    for k in range(c):
        y[0, k] = b0 * x[0, k]
    for i in range(1, t):
        for k in range(c):
            y[i, k] = b0 * x[i, k] + b1 * x[i - 1, k] - a1 * y[i - 1, k]
    return y


def backward_induction(payoff, disc, p):
    """A binomial option: the tree shrinks by one each step."""
    n = payoff.shape[0]
    v = payoff.copy()
    for step in range(n - 1, 0, -1):
        for i in range(step):
            v[i] = disc * (p * v[i + 1] + (1 - p) * v[i])
    return v[0]


def backward_induction_slices(payoff, disc, p):
    v = payoff.copy()
    n = v.shape[0]
    for step in range(n - 1, 0, -1):
        v[:step] = disc * (p * v[1 : step + 1] + (1 - p) * v[:step])
    return v[0]


def returns_to_go(r, gamma):
    g = np.zeros_like(r)
    g[:, -1] = r[:, -1]
    for t in reversed(range(r.shape[1] - 1)):
        g[:, t] = r[:, t] + gamma * g[:, t + 1]
    return g


def euler_lorenz(x, y, z, dt, steps):
    for _ in range(steps):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x = x + dt * dx
        y = y + dt * dy
        z = z + dt * dz
    return x, y, z


def column_recurrence_3d(x):
    n, m, k = x.shape
    for t in range(1, k):
        for i in range(n):
            for j in range(m):
                x[i, j, t] = 0.9 * x[i, j, t - 1] + x[i, j, t]
    return x


def shift_left(x):
    """Old values read to the right: anti-dependences only."""
    for i in range(x.shape[0] - 1):
        x[i] = x[i + 1]


def two_apart(x):
    """Even elements from odd ones."""
    for i in range(0, x.shape[0] - 1, 2):
        x[i] = x[i + 1] * 2.0


def halves(x):
    n = x.shape[0] // 2
    for i in range(n):
        x[i] = x[i] + x[i + n]
    return x


def mirror(x):
    n = x.shape[0]
    for i in range(n // 2):
        t = x[i]
        x[i] = x[n - 1 - i]
        x[n - 1 - i] = t


def upper_from_lower(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]
    return a


def red_black(u, f, h, sweeps):
    """The first column of a row depends on its number: half of the points at a time."""
    n, m = u.shape
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, m - 1, 2):
                    around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    u[i, j] = 0.25 * (around - h * h * f[i, j])
    return u


def implicit_columns(b, w):
    """Both sweeps of a tridiagonal solver for each line, with arrays that every step makes."""
    d = b.copy()
    c = np.zeros_like(d)
    n = d.shape[1]
    for k in range(1, n - 1):
        left = -0.25 * (w[1:, k] + w[:-1, k])
        right = 0.25 * (w[1:, k + 1] + w[:-1, k + 1])
        c[:, k] = right * 0.5
        middle = 2.0 - left - c[:, k]
        factor = 1.0 / (middle - c[:, k - 1] * left)
        c[:, k] = c[:, k] * factor
        d[:, k] = (d[:, k] - d[:, k - 1] * left) * factor
    for k in range(n - 3, -1, -1):
        d[:, k] = d[:, k] - c[:, k] * d[:, k + 1]
    return c, d


def escape_counts(xs, ys, steps):
    """A time loop whose steps stay on each element."""
    z = np.zeros((len(ys), len(xs)), dtype=np.complex128)
    c = xs + ys[:, None] * 1j
    counts = np.zeros(z.shape, dtype=np.int64)
    for n in range(steps):
        inside = np.less(abs(z), 2.0)
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    return z, counts


def shifted_sweep(u, f):
    """The lines keep their distance from the edge; the one behind is read as it was."""
    old = u.copy()
    for k in range(1, u.shape[1]):
        u[1:-1, k] = 0.5 * u[1:-1, k - 1] + old[2:, k] - f[1:-1, k]


def crossing_sweep(u):
    """Each step reads what the neighbours have stored in the last one: no thread stays alone."""
    for k in range(1, u.shape[1]):
        u[1:-1, k] = 0.5 * u[1:-1, k] + 0.25 * (u[2:, k - 1] + u[:-2, k - 1])
