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
