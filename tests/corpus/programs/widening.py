"""Arrays of one element along an axis where another array is longer."""

import numpy as np


def add_bias_then_sum(x, bias):
    """The reduction runs along the axis that the bias is repeated on."""
    y = x + bias
    return y, y.sum(axis=0)


def scaled_total(x, scale):
    """x also stands alone."""
    return x / x.sum() * scale


def bias_in_place(x, bias):
    """A store has the true length."""
    x += bias
    x *= 2.0


def shifted_bias(x, bias):
    """A slice has the true length."""
    return x[1:] * bias


def own_mean(x, y):
    """Both stand alone: neither may be repeated unseen."""
    return (x - x.mean()) * (y - y.mean())


def asks_length(x, bias):
    """The length of the bias itself counts."""
    return x + bias / len(bias)


def like_bias(x, bias):
    """An array as long as the bias."""
    return x + np.ones_like(bias).sum() * bias


def doubled_bias(x, bias):
    """A named array made of the bias alone."""
    twice = 2.0 * bias
    return x + twice, twice.sum()


def column_of_masses(mass, pos):
    """Two columns out of products with `mass` tell that it is a column."""
    momentum = (mass * pos).sum(axis=0)
    x, y = pos[:, 0:1], pos[:, 1:2]
    force = np.hstack(((x.T - x) @ mass, (y.T - y) @ mass))
    pos += 0.1 * force
    return momentum


def either_array(x, y, n, m):
    """Each branch has a length of its own."""
    if n == m:
        z = x * 2.0
        z[0] = 0.0
    else:
        z = y * 3.0
    return z + 1.0
