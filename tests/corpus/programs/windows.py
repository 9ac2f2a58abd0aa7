"""Windows whose sizes follow from other sizes, sums over several axes, ranges that shrink."""

import numpy as np


def pooled(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2], axis=(1, 2))
    return out


def pooled_inside(x):
    return pooled(x[:, 1:, 1:])


def channels(x, w):
    size = w.shape[0]
    out = np.empty((x.shape[0] - size + 1, w.shape[2]), dtype=x.dtype)
    for i in range(x.shape[0] - size + 1):
        out[i, :] = np.sum(x[i : i + size, :, np.newaxis] * w, axis=(0, 1))
    return out


def gram_by_rows(n, x):
    out = np.eye(n)
    for i in range(n - 1):
        out[i + 1 : n, i] = out[i, i + 1 : n] = x[:, i] @ x[:, i + 1 : n]
    return out


def blocks_of_products(a, b, index, out):
    for k in range(index.shape[0]):
        for s in range(a.shape[0]):
            if s - k >= 0:
                left = a[s - k] @ b[index[k]]
                right = b[index[k]] * 2.0
                out[k] += left @ right


def _rolled(a, width):
    """The windows of the last axis, as they are written without `sliding_window_view`."""
    shape = a.shape[:-1] + (a.shape[-1] - width + 1, width)
    strides = a.strides + (a.strides[-1],)
    return np.lib.stride_tricks.as_strided(a, shape=shape, strides=strides)


def strided_spread(a, width):
    return np.std(_rolled(a, width), axis=-1)


def strided_patches(x):
    """Sums of patches of 3 x 2, by the strides of both axes."""
    s0, s1 = x.strides
    patches = np.lib.stride_tricks.as_strided(
        x, (x.shape[0] - 2, x.shape[1] - 1, 3, 2), (s0, s1, s0, s1)
    )
    return patches.sum(axis=(2, 3)) + x[1:-1, 1:]


def strided_beyond(x):
    """NumPy would read memory of others."""
    return np.lib.stride_tricks.as_strided(x, (x.size, 2), 2 * x.strides).sum(axis=1)


def strided_store(x):
    y = x.copy()
    np.lib.stride_tricks.as_strided(y, (y.size - 1, 2), 2 * y.strides)[:] = 0.0
    return y


def strides_of_another(x, y):
    return np.lib.stride_tricks.as_strided(x, x.shape, y.strides) + x


def strides_of_a_result(x):
    """The sums of neighbours of what was computed, and the strides of something else computed."""
    y = x * 2.0
    return np.lib.stride_tricks.as_strided(y, (y.size - 1, 2), 2 * y.strides).sum(axis=1)


def strides_of_another_result(x):
    y, z = x * 2.0, x.T * 2.0
    return np.lib.stride_tricks.as_strided(y, y.shape, z.strides) + x
