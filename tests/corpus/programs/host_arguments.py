"""Arguments that the kernels are made for: None, text, tuples, axes, dtypes."""

import numpy as np

SCALE = 2.5


def centred(x, axis=None):
    if axis is None:
        return x - x.mean()
    return x - x.mean(axis=axis, keepdims=True)


def column_sums(x, axis=0):
    return np.sum(x, axis=axis)


def row_norm(x, axis=-1, keepdims=True):
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def weighted(x, weights=None):
    if weights is None:
        weights = np.ones_like(x)
    return (x * weights).sum() / weights.sum()


def three_taps(x, taps=(0.25, 0.5, 0.25)):
    left, middle, right = taps
    out = x.copy()
    out[1:-1] = left * x[:-2] + middle * x[1:-1] + right * x[2:]
    return out


def taps_as_list(x, taps=[0.25, 0.75]):  # noqa: B006
    return taps[0] * x[:-1] + taps[1] * x[1:]


def norm_by_name(x, kind="l2"):
    if kind not in ("l1", "l2"):
        raise ValueError(f"unknown norm {kind!r}")
    if kind == "l1":
        return np.abs(x).sum()
    return np.sqrt((x * x).sum())


def filled(n, value=0.5, dtype="float32"):
    out = np.zeros(n, dtype=dtype)
    out += value
    return out


def every_other(x, step=2):
    return x[::step] * 2.0


def by_constant(x, factor=SCALE):
    return factor * x


def both_none(x, low=None, high=None):
    y = x * 2.0
    if low is not None:
        y = np.maximum(y, low)
    if high is not None:
        y = np.minimum(y, high)
    return y


def inner_of_shape(x, shape):
    """The shape comes as a tuple, as in older code."""
    out = np.zeros(shape)
    for i in range(1, shape[0] - 1):
        for j in range(1, shape[1] - 1):
            out[i, j] = x[i, j - 1] + x[i - 1, j]
    return out


def window_of_size(x, size):
    height, width = size
    return x[:height, :width] * np.float32(len(size))


def moved_by(x, motion):
    factor, offset, axis = motion
    return x * factor + offset - motion[2] * axis


def checked_with_messages(a, b):
    rows, columns = a.shape
    if rows != columns:
        msg = f"not square: {rows} x {columns}"
        raise ValueError(msg)
    if rows > 1000:
        text = "too large: {} > {}"
        raise ValueError(text.format(rows, 1000))
    if a.shape[0] < 1:
        msg = "nothing of %d" % rows  # noqa: UP031
        raise ValueError(msg)
    return a @ b


def padded_unless_named(x, pad):
    out = np.zeros(x.shape[0] + 2 * pad)
    if pad == "same":
        return x * 1.0
    out[pad : pad + x.shape[0]] = x
    return out
