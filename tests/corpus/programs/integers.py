"""Integer and boolean arrays."""

import numpy as np


def add_wrapping(a, b):
    return a + b


def floor_divide(a, b):
    return a // b


def remainder(a, b):
    return a % b


def true_divide(a, b):
    return a / b


def shift_left(a, k):
    return a << k


def bit_tricks(a):
    return (a & 0x0F) | ((a >> 4) & 1) ^ 3


def invert(a):
    return ~a


def parity(a):
    return a % 2 == 0


def int_mean(a):
    return a.mean()


def int_sum_rows(a):
    return a.sum(axis=1)


def bool_sum(b):
    return b.sum()


def bool_or(a, b):
    return a | b


def int_times_float(a, f):
    return a * f


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def grey_from_rgb(rgb):
    """uint8 image, integer arithmetic in int32."""
    r = rgb[:, :, 0].astype(np.int32)
    g = rgb[:, :, 1].astype(np.int32)
    b = rgb[:, :, 2].astype(np.int32)
    return ((299 * r + 587 * g + 114 * b) // 1000).astype(np.uint8)


def invert_image(img):
    return 255 - img


def brighten(img, amount):
    return np.clip(img.astype(np.float32) + amount, 0, 255).astype(np.uint8)


def gray_code(n):
    i = np.arange(n)
    return i ^ (i >> 1)


def lcg(seed, n):
    """A hash of every index."""
    k = np.arange(n, dtype=np.uint32)
    k = k * np.uint32(1664525) + np.uint32(seed)
    k = k ^ (k >> np.uint32(16))
    return k


def abs_difference(a, b):
    return np.abs(a - b)


def power_int(a):
    return a**3 - a**2 + a


def int_sqrt(a):
    return np.sqrt(a * a)


def checkerboard(n):
    i = np.arange(n)
    return (i[:, None] + i[None, :]) % 2


def divmod_parts(a, b):
    return a // b, a % b


def popcount(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        v = a[i]
        c = 0
        while v > 0:
            c += v & 1
            v >>= 1
        out[i] = c
    return out


def game_of_life(grid):
    """One generation on a torus."""
    neighbours = (
        np.roll(grid, 1, axis=0)
        + np.roll(grid, -1, axis=0)
        + np.roll(grid, 1, axis=1)
        + np.roll(grid, -1, axis=1)
        + np.roll(np.roll(grid, 1, axis=0), 1, axis=1)
        + np.roll(np.roll(grid, 1, axis=0), -1, axis=1)
        + np.roll(np.roll(grid, -1, axis=0), 1, axis=1)
        + np.roll(np.roll(grid, -1, axis=0), -1, axis=1)
    )
    return ((neighbours == 3) | ((grid == 1) & (neighbours == 2))).astype(grid.dtype)


def count_equal(a, b):
    return np.sum(a == b)


def max_of_ints(a):
    return a.max(axis=0), a.min(axis=0)


def prod_of_ints(a):
    return np.prod(a, axis=1)
