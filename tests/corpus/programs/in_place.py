"""Functions that change their arguments."""

import numpy as np


def shift_add(x):
    """The right side is read before anything is written."""
    x[1:] += x[:-1]


def smooth(x):
    x[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


def scale(x, a):
    x *= a


def scale_full_slice(x, a):
    x[:] = a * x + 1


def swap_halves(x):
    h = x.shape[0] // 2
    t = x[:h].copy()
    x[:h] = x[-h:]
    x[-h:] = t


def reverse_in_place(x):
    x[:] = x[::-1]


def zero_border(img):
    img[0, :] = 0
    img[-1, :] = 0
    img[:, 0] = 0
    img[:, -1] = 0


def add_and_return(x, y):
    """Returns its own argument."""
    x += y
    return x


def fill_diagonal(a, v):
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = v


def update_two(x, v, dt):
    v -= dt * x
    x += dt * v


def store_column(a, j, x):
    a[:, j] = x


def accumulate_into(out, x, y):
    out[:] = out + x * y


def every_other(x):
    x[::2] *= -1


def view_write(a):
    """Writing through a view writes the base."""
    inner = a[1:-1, 1:-1]
    inner[:, :] = 0.5 * inner


def transpose_write(a):
    t = a.T
    t[0, :] = 1.0


def normalize_in_place(x):
    x /= x.sum()


def chained(a, b):
    a[:] = b[:] = 2 * a


def swap_arrays(a, b):
    tmp = a.copy()
    a[...] = b
    b[...] = tmp


def floor_and_mod(x, q):
    x //= q
    x %= 5


def fill_method(x):
    x.fill(3.5)


def copy_back(x):
    y = x.copy()
    y[0] = -1.0
    x[-1] = y[0]
    return y


def flocking(xs, ys, xvs, yvs):
    """Differences made before the stores are computed again behind them: no two may be one."""
    dx = np.add.outer(xs, -xs)
    dy = np.add.outer(ys, -ys)
    near = dx**2 + dy**2 < 4.0
    xvs += np.sum(dx * near, axis=0) * 0.25
    yvs += np.sum(dy * near, axis=0) * 0.25
    xs += xvs
    ys += yvs


def corner_before_its_test(x, y):
    """One thread stores into a corner and compares it: it sees its own store if x is y."""
    x[-1, 1] += y[0, 0]
    if y[0, 0] < y[-1, 1]:
        x[0] *= 2.0
    return y.sum()
