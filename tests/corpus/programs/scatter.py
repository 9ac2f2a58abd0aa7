"""Stores at positions that are read from data: counts, updates in any order, the last store."""

import numpy as np


def count_loop(bins, counts):
    """How often each number occurs."""
    for i in range(bins.shape[0]):
        counts[bins[i]] += 1


def degrees(src, dst, n):
    degree = np.zeros(n, dtype=np.int64)
    for e in range(src.shape[0]):
        degree[src[e]] += 1
        degree[dst[e]] += 1
    return degree


def weighted_histogram(x, w, lo, hi, nbins):
    """Values outside of the range are left out."""
    hist = np.zeros(nbins)
    width = (hi - lo) / nbins
    for i in range(x.shape[0]):
        if lo <= x[i] < hi:
            b = int((x[i] - lo) / width)
            if b < nbins:
                hist[b] += w[i]
    return hist


def coo_matvec(row, col, val, x, n):
    y = np.zeros(n)
    for k in range(val.shape[0]):
        y[row[k]] += val[k] * x[col[k]]
    return y


def coo_matmat(row, col, val, X, n):
    out = np.zeros((n, X.shape[1]))
    for k in range(len(val)):
        out[row[k], :] += val[k] * X[col[k], :]
    return out


def image_histogram(img):
    hist = np.zeros(256, dtype=np.int64)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            hist[img[i, j]] += 1
    return hist


def joint_histogram(a, b, n):
    out = np.zeros((n, n), dtype=np.int64)
    for i in range(a.shape[0]):
        out[a[i], b[i]] += 1
    return out


def confusion_matrix(truth, predicted, k):
    matrix = np.zeros((k, k), dtype=np.int32)
    for i in range(len(truth)):
        matrix[truth[i], predicted[i]] += 1
    return matrix


def group_sums(keys, values, n):
    sums = np.zeros(n)
    counts = np.zeros(n, dtype=np.int64)
    for i in range(keys.shape[0]):
        k = keys[i]
        sums[k] += values[i]
        counts[k] += 1
    return sums, counts


def group_means(keys, values, n):
    sums = np.zeros(n)
    counts = np.zeros(n)
    for i in range(keys.shape[0]):
        sums[keys[i]] += values[i]
        counts[keys[i]] += 1
    return sums / np.maximum(counts, 1)


def group_maximum(keys, values, n):
    best = np.full(n, -np.inf)
    for i in range(keys.shape[0]):
        best[keys[i]] = max(best[keys[i]], values[i])
    return best


def group_minimum_if(keys, values, best):
    """With NaN among the values: the comparison fails, the element stays."""
    for i in range(keys.shape[0]):
        if values[i] < best[keys[i]]:
            best[keys[i]] = values[i]


def latest(keys, times, last):
    for i in range(keys.shape[0]):
        last[keys[i]] = np.maximum(last[keys[i]], times[i])


def subtract_flows(src, dst, flow, net):
    """Both ends of an edge."""
    for e in range(len(flow)):
        net[src[e]] -= flow[e]
        net[dst[e]] += flow[e]


def pair_forces(x, eps):
    """Newton's third law: each pair once."""
    n = x.shape[0]
    force = np.zeros(n)
    for i in range(n):
        for j in range(i + 1, n):
            d = x[i] - x[j]
            f = d / (d * d + eps)
            force[i] += f
            force[j] -= f
    return force


def centroids(X, labels, k):
    sums = np.zeros((k, X.shape[1]))
    counts = np.zeros(k)
    for i in range(X.shape[0]):
        sums[labels[i]] += X[i]
        counts[labels[i]] += 1
    return sums / np.maximum(counts, 1)[:, None]


def pagerank(src, dst, n, damping, sweeps):
    degree = np.zeros(n)
    for e in range(src.shape[0]):
        degree[src[e]] += 1
    rank = np.full(n, 1.0 / n)
    for _ in range(sweeps):
        new = np.full(n, (1 - damping) / n)
        for e in range(src.shape[0]):
            new[dst[e]] += damping * rank[src[e]] / degree[src[e]]
        rank = new
    return rank


def min_label_sweep(src, dst, labels):
    """One sweep of connected components, from the old labels."""
    new = labels.copy()
    for e in range(src.shape[0]):
        new[dst[e]] = min(new[dst[e]], labels[src[e]])
        new[src[e]] = min(new[src[e]], labels[dst[e]])
    return new


def bfs_level(src, dst, depth, level):
    found = np.zeros(depth.shape[0], dtype=np.bool_)
    for e in range(src.shape[0]):
        if depth[src[e]] == level:
            found[dst[e]] = True
    return found & (depth < 0)


def mark(idx, seen):
    for k in idx:
        seen[k] = 1


def flags_or(idx, hit, seen):
    for i in range(idx.shape[0]):
        seen[idx[i]] |= hit[i]


def bits(idx, mask, words):
    for i in range(idx.shape[0]):
        words[idx[i]] |= mask[i]


def deposit(x, q, n):
    """Particle in cell, linear weights on a periodic grid."""
    rho = np.zeros(n)
    for p in range(x.shape[0]):
        left = int(np.floor(x[p])) % n
        w = x[p] - np.floor(x[p])
        rho[left] += q[p] * (1.0 - w)
        rho[(left + 1) % n] += q[p] * w
    return rho


def assemble(k):
    """Element matrices of a bar, added at shared nodes."""
    n = k.shape[0] + 1
    diag = np.zeros(n)
    for e in range(k.shape[0]):
        diag[e] += k[e]
        diag[e + 1] += k[e]
    return diag


def polynomial_product(a, b):
    c = np.zeros(a.shape[0] + b.shape[0] - 1)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i + j] += a[i] * b[j]
    return c


def co_occurrence(img, levels):
    out = np.zeros((levels, levels), dtype=np.int64)
    for i in range(img.shape[0]):
        for j in range(img.shape[1] - 1):
            out[img[i, j], img[i, j + 1]] += 1
    return out


def hough(edges, cos, sin, radius):
    """Votes for lines."""
    votes = np.zeros((2 * radius + 1, cos.shape[0]), dtype=np.int64)
    for y in range(edges.shape[0]):
        for x in range(edges.shape[1]):
            if edges[y, x]:
                for t in range(cos.shape[0]):
                    r = int(np.rint(x * cos[t] + y * sin[t])) + radius
                    votes[r, t] += 1
    return votes


def permute_loop(perm, x, out):
    for i in range(x.shape[0]):
        out[perm[i]] = x[i]


def scatter_pairs(idx, x, y, out_x, out_y):
    for i in range(idx.shape[0]):
        k = idx[i]
        out_x[k] = x[i]
        out_y[k] = y[i] + 1


def triangle_count(rows, cols, adjacency):
    total = np.zeros(1, dtype=np.int64)
    for e in range(rows.shape[0]):
        for k in range(adjacency.shape[0]):
            if adjacency[rows[e], k] and adjacency[cols[e], k]:
                total[0] += 1
    return total


def scale_refused(keys, x, y):
    """Products have no atomics."""
    for i in range(keys.shape[0]):
        y[keys[i]] *= x[i]


def relax_refused(src, dst, w, dist):
    """Reads what other iterations write."""
    for e in range(src.shape[0]):
        if dist[src[e]] + w[e] < dist[dst[e]]:
            dist[dst[e]] = dist[src[e]] + w[e]


def slots_refused(keys, out, count):
    """Each iteration takes the next free slot."""
    for i in range(keys.shape[0]):
        k = keys[i]
        out[k] = count[k]
        count[k] += 1


def small_counts_refused(keys, counts):
    """No atomics for int8."""
    for i in range(keys.shape[0]):
        counts[keys[i]] += 1


# -- stores through index arrays ---------------------------------------------------------


def put(x, idx, v):
    """Of equal positions the last one counts."""
    x[idx] = v


def put_constant(x, idx):
    x[idx] = 0


def put_scaled(x, idx, s):
    x[idx] = s * 2


def add_at_once(x, idx, v):
    """Not accumulated: of equal positions the last sum counts."""
    x[idx] += v


def double_selected(x, idx):
    x[idx] *= 2


def inverse_permutation(perm):
    inverse = np.empty_like(perm)
    inverse[perm] = np.arange(perm.shape[0])
    return inverse


def put_rows(a, idx, rows):
    a[idx] = rows


def put_rows_slice(a, idx, rows):
    a[idx, :] = rows


def put_columns(a, idx, columns):
    a[:, idx] = columns


def put_row_value(a, idx, row):
    """One row into several."""
    a[idx] = row


def put_pairs(a, rows, cols, v):
    a[rows, cols] = v


def put_part_of_row(a, idx, v):
    a[1, idx] = v


def one_hot(labels, k):
    out = np.zeros((labels.shape[0], k))
    out[np.arange(labels.shape[0]), labels] = 1.0
    return out


def softmax_gradient(p, labels):
    """Cross entropy: one element in each row."""
    grad = p.copy()
    grad[np.arange(p.shape[0]), labels] -= 1
    return grad / p.shape[0]


def put_block(a, rows, cols, v):
    """The outer product of the positions."""
    a[rows[:, None], cols] = v


def put_through_two(x, first, second, v):
    x[first[second]] = v


def copy_selected(x, idx, other):
    x[idx] = x[other]


def swap_by_index(x, i, j):
    x[i], x[j] = x[j], x[i]


def negative_positions(x, idx):
    x[-1 - idx] = 7


def put_in_slice(x, idx, v):
    """Positions count from the start of the view."""
    x[2:][idx] = v


def put_each_row(a, idx, v):
    """A loop over rows around the store, a number for each."""
    for i in range(a.shape[0]):
        a[i, idx] = v[i] * 2


def bump_each_row(a, idx):
    for i in range(a.shape[0]):
        a[i, idx] += 1


def boundary(u, nodes, values, steps):
    """Dirichlet nodes in a time loop."""
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        u[nodes] = values
    return u


def gather_columns(a, idx):
    return a[:, idx]


def gather_labels(p, labels):
    return -np.log(p[np.arange(p.shape[0]), labels]).sum()


def gather_rows_columns(a, rows, cols):
    return a[rows][:, cols]


def gather_expanded(x, idx):
    return x[idx, None] - x[None, idx]


def gather_composed(x, first, second):
    return x[first[second]]


def gather_table(table, codes):
    """A palette."""
    return table[codes]


def embedding_mean(E, tokens):
    return E[tokens].mean(axis=1)


# -- ufunc.at ----------------------------------------------------------------------------


def add_at(h, idx, w):
    np.add.at(h, idx, w)


def count_at(idx, n):
    h = np.zeros(n, dtype=np.int64)
    np.add.at(h, idx, 1)
    return h


def add_at_pairs(m, rows, cols, w):
    np.add.at(m, (rows, cols), w)
    return m


def add_at_rows(grad, tokens, g):
    """The gradient of an embedding."""
    np.add.at(grad, tokens, g)


def subtract_at(h, idx, w):
    np.subtract.at(h, idx, w)


def maximum_at(m, idx, v):
    """NaN spreads."""
    np.maximum.at(m, idx, v)


def minimum_at(m, idx, v):
    np.minimum.at(m, idx, v)


def add_at_itself(x, idx):
    np.add.at(x, idx, x[idx])


def spring_forces(pos, first, second, k):
    """Forces of springs on the particles at their ends."""
    d = pos[second] - pos[first]
    length = np.sqrt((d**2).sum(axis=1))
    f = k * (length - 1.0)[:, None] * d / (length + 1e-9)[:, None]
    force = np.zeros_like(pos)
    np.add.at(force, first, f)
    np.subtract.at(force, second, f)
    return force


def positions_of_itself(x):
    """The positions are what is overwritten."""
    x[x] = 0
    return x


def spread_of_itself(x, idx):
    """The value that is stored in all places is read in the array before that."""
    t = x * 2
    last = t[-1].copy()
    t[idx] = last[-1]
    return t


def store_in_turned_columns(a, idx, v):
    a[:, ::-1][:, idx] = v[:, None]


def add_from_the_end(a, idx, v):
    turned = a[::-1, ::-1]
    turned[idx, idx] += v
