"""Graphs, particles and images as people write them with loops over edges and samples."""

import numpy as np


def bfs(src, dst, n, root):
    """Level by level over an edge list."""
    depth = np.full(n, -1)
    depth[root] = 0
    level = 0
    changed = True
    while changed:
        found = np.zeros(n, dtype=np.bool_)
        for e in range(src.shape[0]):
            if depth[src[e]] == level and depth[dst[e]] < 0:
                found[dst[e]] = True
        depth = np.where(found, level + 1, depth)
        level += 1
        changed = found.any()
    return depth


def components(src, dst, n):
    """Smallest label among neighbours until nothing changes."""
    labels = np.arange(n)
    while True:
        new = labels.copy()
        np.minimum.at(new, dst, labels[src])
        np.minimum.at(new, src, labels[dst])
        if np.all(new == labels):
            break
        labels = new
    return labels


def pagerank_vector(src, dst, n, sweeps):
    degree = np.bincount(src, minlength=n)
    rank = np.full(n, 1.0 / n)
    for _ in range(sweeps):
        share = rank / np.maximum(degree, 1)
        new = np.zeros(n)
        np.add.at(new, dst, share[src])
        rank = 0.15 / n + 0.85 * new
    return rank


def kmeans_step(X, centers):
    """Assignment by distance, then means of the clusters."""
    d = ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    labels = np.argmin(d, axis=1)
    sums = np.zeros_like(centers)
    counts = np.zeros(centers.shape[0])
    for i in range(X.shape[0]):
        sums[labels[i]] += X[i]
        counts[labels[i]] += 1
    new = centers.copy()
    for k in range(centers.shape[0]):
        if counts[k] > 0:
            new[k] = sums[k] / counts[k]
    return new, labels


def deposit_2d(x, y, q, nx, ny):
    """Cloud in cell on a grid."""
    rho = np.zeros((nx, ny))
    for p in range(x.shape[0]):
        i = int(x[p])
        j = int(y[p])
        fx = x[p] - i
        fy = y[p] - j
        rho[i, j] += q[p] * (1 - fx) * (1 - fy)
        rho[i + 1, j] += q[p] * fx * (1 - fy)
        rho[i, j + 1] += q[p] * (1 - fx) * fy
        rho[i + 1, j + 1] += q[p] * fx * fy
    return rho


def ising_sweep(spin, noise, beta):
    """Checkerboard: black sites, then white ones."""
    n, m = spin.shape
    for color in range(2):
        for i in range(n):
            for j in range(m):
                if (i + j) % 2 == color:
                    s = spin[i, j]
                    around = (
                        spin[(i + 1) % n, j]
                        + spin[i, (j + 1) % m]
                        + spin[(i - 1) % n, j]
                        + spin[i, (j - 1) % m]
                    )
                    if noise[i, j] < np.exp(-2.0 * beta * s * around):
                        spin[i, j] = -s
    return spin


def radial_profile(img, cx, cy, nbins):
    """Mean brightness by distance from a point."""
    total = np.zeros(nbins)
    count = np.zeros(nbins)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            r = int(np.sqrt((i - cx) ** 2 + (j - cy) ** 2))
            if r < nbins:
                total[r] += img[i, j]
                count[r] += 1.0
    return total / np.maximum(count, 1.0)


def bigrams(tokens, n):
    counts = np.zeros((n, n), dtype=np.int64)
    for t in range(len(tokens) - 1):
        counts[tokens[t], tokens[t + 1]] += 1
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def segment_sum(values, segments, n):
    out = np.zeros((n, values.shape[1]), dtype=values.dtype)
    np.add.at(out, segments, values)
    return out


def laplacian_of_edges(src, dst, w, x):
    """Graph Laplacian times a vector."""
    y = np.zeros_like(x)
    for e in range(w.shape[0]):
        flow = w[e] * (x[src[e]] - x[dst[e]])
        y[src[e]] += flow
        y[dst[e]] -= flow
    return y


def equalize(img):
    """Histogram equalisation of 8-bit images."""
    hist = np.zeros(256, dtype=np.int64)
    for v in img.ravel():
        hist[v] += 1
    cdf = np.cumsum(hist)
    return (cdf[img] * 255 // cdf[-1]).astype(np.uint8)


def naive_bayes_counts(X, y, classes):
    """How often each feature is on in each class."""
    counts = np.zeros((classes, X.shape[1]))
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            if X[i, f] > 0:
                counts[y[i], f] += 1
    return counts


def orderbook_volume(price, size, tick, levels):
    """Volume by price level, clipped into the last one."""
    book = np.zeros(levels)
    for k in range(price.shape[0]):
        level = min(int(price[k] / tick), levels - 1)
        book[level] += size[k]
    return book


def first_and_last_seen(keys, times, first, last):
    for i in range(keys.shape[0]):
        k = keys[i]
        if times[i] < first[k]:
            first[k] = times[i]
        if times[i] > last[k]:
            last[k] = times[i]


def out_of_range_rows(labels, rows, k):
    """More labels than rows: IndexError."""
    out = np.zeros((rows, k))
    out[np.arange(labels.shape[0]), labels] = 1.0
    return out


def total_in_element(x, out):
    for i in range(x.shape[0]):
        out[0] += x[i]


def jacobian_scatter(conn, ke, n):
    """Finite elements: 2 x 2 element matrices into the global one."""
    K = np.zeros((n, n))
    for e in range(conn.shape[0]):
        for a in range(2):
            for b in range(2):
                K[conn[e, a], conn[e, b]] += ke[e, a, b]
    return K
