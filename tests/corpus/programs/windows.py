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
