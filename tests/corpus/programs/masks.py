"""Boolean masks."""

import numpy as np


def zero_below(x, t):
    x[x < t] = 0


def replace_nan(x):
    x[np.isnan(x)] = 0.0


def replace_nan_copy(x):
    y = x.copy()
    y[np.isnan(y)] = -1
    return y


def square_positive(x):
    mask = x > 0
    x[mask] = x[mask] ** 2


def double_where_other(x, y):
    x[y > 0] *= 2


def masked_mean(x, mask):
    return x[mask].mean()


def masked_sum(x):
    return x[x > 0].sum()


def band(x, lo, hi):
    return (x > lo) & (x < hi)


def outside(x, lo, hi):
    return (x < lo) | (x > hi)


def not_positive(x):
    return ~(x > 0)


def logical_functions(a, b):
    return np.logical_or(np.logical_and(a > 0, b > 0), np.logical_not(a < b))


def select_nested(x):
    return np.where(x < -1, -1.0, np.where(x > 1, 1.0, x))


def piecewise_masks(x):
    y = np.zeros_like(x)
    low = x < 0
    y[low] = -x[low]
    y[~low] = x[~low] * 2
    return y


def indicator(x):
    return (x > 0) * 1.0


def mask_as_int(x):
    return (x > 0).astype(np.int32)


def count_true(mask):
    return mask.sum()


def clamp_mask_2d(img):
    out = img.copy()
    out[out > 1.0] = 1.0
    out[out < 0.0] = 0.0
    return out


def mask_from_both(x, y):
    out = np.zeros(x.shape)
    out[(x > 0) & (y > 0)] = 1
    return out


def xor_masks(a, b):
    return (a > 0) ^ (b > 0)


def where_rows(x, keep):
    return np.where(keep[:, None], x, 0)


def range_mask(x, a, b):
    return np.where((a <= x) & (x <= b), x, np.nan)
