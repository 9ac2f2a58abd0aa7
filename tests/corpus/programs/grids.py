"""Stencils and time steps, more of them."""

import numpy as np
from numpy.typing import NDArray


def heat_2d_swap(T0: NDArray[np.float64], steps: int, kappa: float = 0.1):
    T = T0.copy()
    Tn = np.empty_like(T)
    for _ in range(steps):
        Tn[:] = T
        Tn[1:-1, 1:-1] += kappa * (
            T[:-2, 1:-1] + T[2:, 1:-1] + T[1:-1, :-2] + T[1:-1, 2:] - 4 * T[1:-1, 1:-1]
        )
        T, Tn = Tn, T
    return T


def heat_list(u, steps):
    """Two buffers in a tuple-less toggle."""
    a = u.copy()
    b = u.copy()
    for t in range(steps):
        if t % 2 == 0:
            b[1:-1] = 0.5 * (a[:-2] + a[2:])
        else:
            a[1:-1] = 0.5 * (b[:-2] + b[2:])
    return b if steps % 2 else a


def heat_periodic(u, r, steps):
    for _ in range(steps):
        u = u + r * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


def heat_neumann(u, r, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        v[0] = v[1]
        v[-1] = v[-2]
        u = v
    return u


def heat_index_arrays(u, r, steps):
    n = u.shape[0]
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(1, n - 1):
            new[i] = u[i] + r * (u[i + 1] - 2 * u[i] + u[i - 1])
        new[0] = u[0]
        new[n - 1] = u[n - 1]
        u = new
    return u


def nine_point(u):
    out = u.copy()
    c = u[1:-1, 1:-1]
    edges = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    corners = u[:-2, :-2] + u[:-2, 2:] + u[2:, :-2] + u[2:, 2:]
    out[1:-1, 1:-1] = (4 * edges + corners - 20 * c) / 6
    return out


def staggered_average(u, v):
    uc = 0.5 * (u[:, :-1] + u[:, 1:])
    vc = 0.5 * (v[:-1, :] + v[1:, :])
    return np.sqrt(uc**2 + vc**2)


def variable_coefficient(u, k, h):
    kf = 0.5 * (k[1:] + k[:-1])
    flux = -kf * (u[1:] - u[:-1]) / h
    out = np.zeros_like(u)
    out[1:-1] = -(flux[1:] - flux[:-1]) / h
    return out


def lax_wendroff(u, c, steps):
    for _ in range(steps):
        up = np.roll(u, -1)
        um = np.roll(u, 1)
        u = u - 0.5 * c * (up - um) + 0.5 * c**2 * (up - 2 * u + um)
    return u


def wave_2d(u0, u1, c, steps):
    prev = u0.copy()
    cur = u1.copy()
    for _ in range(steps):
        nxt = np.zeros_like(cur)
        nxt[1:-1, 1:-1] = (
            2 * cur[1:-1, 1:-1]
            - prev[1:-1, 1:-1]
            + c**2
            * (
                cur[2:, 1:-1]
                + cur[:-2, 1:-1]
                + cur[1:-1, 2:]
                + cur[1:-1, :-2]
                - 4 * cur[1:-1, 1:-1]
            )
        )
        prev, cur = cur, nxt
    return cur


def heat_3d(u, steps):
    for _ in range(steps):
        un = u.copy()
        u[1:-1, 1:-1, 1:-1] = un[1:-1, 1:-1, 1:-1] + 0.1 * (
            un[2:, 1:-1, 1:-1]
            + un[:-2, 1:-1, 1:-1]
            + un[1:-1, 2:, 1:-1]
            + un[1:-1, :-2, 1:-1]
            + un[1:-1, 1:-1, 2:]
            + un[1:-1, 1:-1, :-2]
            - 6 * un[1:-1, 1:-1, 1:-1]
        )


def shallow_water(h, u, dt, dx, steps):
    g = 9.81
    for _ in range(steps):
        hn = h - dt / (2 * dx) * (np.roll(h * u, -1) - np.roll(h * u, 1))
        u = u - dt / (2 * dx) * (np.roll(0.5 * u**2 + g * h, -1) - np.roll(0.5 * u**2 + g * h, 1))
        h = hn
    return h, u


def game_of_life_steps(board, generations):
    for _ in range(generations):
        n = np.zeros(board.shape, dtype=np.int64)
        n[1:-1, 1:-1] = (
            board[:-2, :-2] + board[:-2, 1:-1] + board[:-2, 2:]
            + board[1:-1, :-2] + board[1:-1, 2:]
            + board[2:, :-2] + board[2:, 1:-1] + board[2:, 2:]
        )  # fmt: skip
        board = np.where((n == 3) | ((board == 1) & (n == 2)), 1, 0)
    return board


def sobel_loops(img):
    h, w = img.shape
    out = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            gx = (
                img[i - 1, j + 1] + 2 * img[i, j + 1] + img[i + 1, j + 1]
                - img[i - 1, j - 1] - 2 * img[i, j - 1] - img[i + 1, j - 1]
            )  # fmt: skip
            gy = (
                img[i + 1, j - 1] + 2 * img[i + 1, j] + img[i + 1, j + 1]
                - img[i - 1, j - 1] - 2 * img[i - 1, j] - img[i - 1, j + 1]
            )  # fmt: skip
            out[i, j] = (gx * gx + gy * gy) ** 0.5
    return out


def sobel_uint8(img):
    """Integer image, float result, padded by its edge."""
    a = np.pad(img.astype(np.float32), 1, mode="edge")
    gx = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
    gy = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
    return np.hypot(gx, gy)


def scharr_direction(img):
    gx = np.zeros_like(img)
    gy = np.zeros_like(img)
    gx[:, 1:-1] = img[:, 2:] - img[:, :-2]
    gy[1:-1, :] = img[2:, :] - img[:-2, :]
    return np.hypot(gx, gy), np.arctan2(gy, gx)


def laplacian_of_gaussian_separable(img):
    """A blur along rows, then along columns, then a difference."""
    rows = 0.25 * img[:, :-2] + 0.5 * img[:, 1:-1] + 0.25 * img[:, 2:]
    both = 0.25 * rows[:-2] + 0.5 * rows[1:-1] + 0.25 * rows[2:]
    return img[1:-1, 1:-1] - both


def gradient_magnitude_helper(img):
    def dx(a):
        return a[1:-1, 2:] - a[1:-1, :-2]

    def dy(a):
        return a[2:, 1:-1] - a[:-2, 1:-1]

    return np.sqrt(dx(img) ** 2 + dy(img) ** 2)


def poisson_residual(p, f, h):
    r = np.zeros_like(p)
    r[1:-1, 1:-1] = (
        f[1:-1, 1:-1]
        - (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * p[1:-1, 1:-1]) / h**2
    )
    return r, np.abs(r).max()


def red_black_sweep(u):
    """Strided slices of both colours, in place."""
    u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2])
    u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2])


def kernel_of_width(sigma):
    """The grid of a negative width has negative dimensions, which NumPy refuses."""
    radius = int(4.0 * sigma + 0.5)
    x, y = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    k = np.exp(-0.5 * (x**2 + y**2) / sigma**2)
    return k / np.sum(k)


def one_axis_of_a_grid(x, n):
    """A trailing comma makes a grid of one axis."""
    return np.mgrid[1:n:2,] * x[0], np.mgrid[1:n:2] * x[0]
