"""Masks along one axis of arrays with more."""

import numpy as np


def clear_rows(x, keep):
    x[~keep] = 0


def set_rows(x, keep, v):
    x[keep, :] = v


def set_column_of_rows(x, keep):
    x[keep, 0] = -1.0


def scale_rows(x, keep, s):
    x[keep] *= s


def copy_rows(x, y, keep):
    x[keep] = y[keep]


def add_rows(x, y, keep):
    x[keep] += y[keep]


def both_masks(x, a, b):
    x[a & b, 1] = 5


def row_by_mask(x, keep, i):
    x[i, keep] = 0


def mask_of_row(x, t):
    """A mask made of a column."""
    x[x[:, 0] > t] = 0
    return x


def mean_of_rows(x, keep):
    return x[keep].mean(axis=0)


def reflect(pos, vel, size):
    """Particles that leave the box come back."""
    out = (pos[:, 0] < 0) | (pos[:, 0] > size)
    vel[out, 0] *= -1
    pos[:, 0] = np.clip(pos[:, 0], 0, size)


def masked_difference(x, y, m):
    x[m] = x[m] - y[m] * 2


def mask_3d(x, m):
    x[m] = 0.0


def columns_behind_a_mask(F, solid, n):
    """Bounce back: the selection and what is stored through the mask are of one mask."""
    for _ in range(n):
        kept = F[solid, :]
        kept = kept[:, [0, 2, 1]]
        F *= 0.5
        F[solid, :] = kept
    return F


def selected_and_put_back(x, solid, n):
    for _ in range(n):
        kept = x[solid]
        x = x * 0.5 + 1.0
        x[solid] = kept
    return x


def mask_that_changes(x, n):
    """The mask of the second selection is another one, as the array has changed."""
    for _ in range(n):
        low = x < 1.0
        kept = x[low]
        x = x + 1.0
        low = low & (x > 0.5)
        x[low] = 0.25
        x = np.where(low, x, x + kept.sum())
    return x
