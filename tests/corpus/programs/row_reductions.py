"""One value per row, or rows changed by a value of their own."""

import numpy as np
from numpy import newaxis


def row_sums(x):
    return x.sum(axis=1)


def row_means(x):
    return np.mean(x, axis=-1)


def center_rows(x):
    return x - x.mean(1)[:, None]


def unit_rows(x):
    norm = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / norm


def unit_rows_linalg(x):
    return x / np.linalg.norm(x, axis=1)[:, newaxis]


def minmax_rows(a):
    lo = a.min(axis=1)
    hi = a.max(axis=1)
    return (a - lo[:, np.newaxis]) / (hi - lo)[:, np.newaxis]


def log_softmax(logits):
    m = np.max(logits, axis=-1, keepdims=True)
    z = logits - m
    return z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))


def logsumexp(x):
    top = x.max(axis=1)
    return top + np.log(np.exp(x - top[:, None]).sum(axis=1))


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def rms_norm(x, weight):
    scale = 1.0 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)
    return x * scale * weight


def l1_distance_to(x, center):
    return np.abs(x - center).sum(axis=1)


def row_argmax(x):
    return np.argmax(x, axis=1)


def row_argmin(x):
    return x.argmin(axis=-1)


def any_negative(x):
    return (x < 0).any(axis=1)


def all_below(x, limit):
    return np.all(x < limit, axis=1)


def count_positive(x):
    return np.sum(x > 0, axis=1)


def row_products(x):
    return x.prod(axis=1)


def row_std_ddof(x):
    return np.std(x, axis=1, ddof=1)


def last_two_axes(t):
    """A tuple of axes."""
    return t.sum(axis=(1, 2))


def channel_means(t):
    return t.mean(axis=(-2, -1), keepdims=True)


def cosine_rows(a, b):
    dot = (a * b).sum(axis=1)
    return dot / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


def cross_entropy(p, q):
    return -np.sum(p * np.log(q), axis=1)


def row_range(x):
    return np.max(x, axis=1) - np.min(x, axis=1)


def normalize_loop_rows(x):
    """As the porting tutorial writes it, with a row view and an augmented store."""
    for i in range(len(x)):
        x[i] /= np.sqrt((x[i] ** 2).sum())


def softmax_loop(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        row = x[i]
        e = np.exp(row - row.max())
        out[i] = e / e.sum()
    return out
