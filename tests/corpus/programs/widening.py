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


def running_ratio(x, y):
    """A scan of what two arrays give together; one of them also stands alone."""
    return np.cumsum(x - y) / (y.sum() + 20.0)


def mixed_in_steps(x, y, steps):
    """A loop over time stores into x what both give."""
    for _ in range(steps):
        x[::2] = 0.5 * x[::2] + y[::2]
    return x.sum()


def picked(x, y):
    """Slices of y are 1 long where y is."""
    z = np.where(x > y, x, y[:3] - x)
    return z[1:] + y.mean(), z


def steps_together(x, y, z):
    """What two arrays give is 1 long only if both are."""
    both = x * y
    last = both[-1:] + z
    return last, (both + z[0]).sum(axis=-1)


def reversed_beside(x, z):
    """Either one may be repeated: they only meet."""
    return x * z[:, ::-1], (2.0 * x + z[:, ::-1]).sum(axis=1)


def given_back(x, z):
    """An argument that is returned is that argument, and not a repeated one."""
    return z, x[:, ::-1] + z.sum(axis=0) * z, x * 0.5 + z[0]


def rows_for_each(w, x, y):
    """A row for each element of y, whose length no index of a read tells."""
    w += x - y
    return np.meshgrid(w, y)[0]


def no_elements_beside(x, z):
    """An array of zeros that is as long as a slice of x, where z tells its own length."""
    for i in range(z.shape[0]):
        z[i] += z[0] - x[-1]
    return np.imag(x[1:-1, 2:])[::-1] / x[1:-1, :-2]


def diagonal_beside(x, y):
    """The diagonal is as long as the shorter axis, which may be 1."""
    x[:-2, 1:-1] -= y[1:2]
    return np.diagonal(y[::-1]).copy()


def itself_beside(z, y):
    """A store that changes nothing shows the dtype all the same."""
    z[1] = z[1]
    return y * 2 + z[0]
