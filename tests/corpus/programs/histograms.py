"""Histograms as NumPy bins them."""

import numpy as np


def histogram_ten(x):
    return np.histogram(x)


def histogram_bins(x, bins):
    hist, edges = np.histogram(x, bins=bins)
    return hist, edges


def histogram_range(x, lo, hi):
    hist, _ = np.histogram(x, bins=16, range=(lo, hi))
    return hist


def histogram_unit(x):
    return np.histogram(x, 8, (0.0, 1.0))[0]


def histogram_density(x, bins):
    density, edges = np.histogram(x, bins=bins, range=(-3, 3), density=True)
    centers = 0.5 * (edges[1:] + edges[:-1])
    return centers, density


def histogram_weights(x, w):
    return np.histogram(x, bins=5, range=(-2.0, 2.0), weights=w)


def histogram_edges(x, edges):
    return np.histogram(x, bins=edges)


def histogram_list(x):
    hist, _ = np.histogram(x, bins=[-1.0, 0.0, 0.5, 2.0])
    return hist


def histogram_image(img):
    hist, _ = np.histogram(img, bins=256, range=(0, 255))
    return hist / hist.sum()


def entropy_of_histogram(x):
    counts, _ = np.histogram(x, bins=12)
    p = counts / counts.sum()
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0))


def bincount_plain(x):
    return np.bincount(x)


def bincount_minlength(x, n):
    return np.bincount(x, minlength=n)


def bincount_weights(x, w):
    return np.bincount(x, weights=w)


def group_means_bincount(labels, values, k):
    sums = np.bincount(labels, weights=values, minlength=k)
    counts = np.bincount(labels, minlength=k)
    return sums / np.maximum(counts, 1)


def degree_distribution(src, n):
    degree = np.bincount(src, minlength=n)
    return np.bincount(degree)


def most_frequent(x):
    return np.argmax(np.bincount(x, minlength=4))


def joint_counts(a, b, k):
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def equalized(image):
    """Limits that a byte has no room for, and positions of bytes in a table."""
    hist, _ = np.histogram(image.flatten(), bins=256, range=(0, 256))
    table = np.cumsum(hist) * 255.0 / image.size
    return table[image], hist


def weighted_between_edges(x, w):
    """Running sums of the weights: a NaN among them spoils all bins behind it."""
    return np.histogram(x, bins=np.array([-1.0, 0.0, 1.5, 4.0]), weights=w)[0]


def weighted_by_edges(x, w, edges):
    return np.histogram(x, bins=edges, weights=w)


def means_in_bins(x, w, n):
    """The second histogram has the limits and the edges of the first one."""
    count, edges = np.histogram(x, n)
    total, same = np.histogram(x, n, weights=w)
    return total / np.maximum(count, 1), edges, same


def histogram_of_changed(x, n):
    before = np.histogram(x, n)[0]
    x[0] = 7.0
    after = np.histogram(x, n)[0]
    return before, after


def histogram_beside_changed(x, w, n):
    """The caller may give one array twice."""
    before = np.histogram(x, n)[0]
    w[0] = 7.0
    return before - np.histogram(x, n)[0]


def edges_stored_into(x, n):
    """The edges of both histograms are the caller's, each an array of its own."""
    _, edges = np.histogram(x, n)
    edges[0] = -9.0
    _, others = np.histogram(x, n)
    return edges, others


def means_of_groups(labels, values, others, k):
    sums = np.bincount(labels, weights=values, minlength=k)
    counts = np.bincount(labels, minlength=k)
    beside = np.bincount(others, minlength=k)
    return sums / np.maximum(counts, 1), beside
