"""Dynamic programming over tables: wavefronts, rows and intervals."""

import numpy as np


def edit_distance(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


def longest_common_subsequence(a, b):
    n = a.shape[0]
    m = b.shape[0]
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table


def dtw(x, y):
    """Dynamic time warping."""
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            dist = abs(x[i - 1] - y[j - 1])
            cost[i, j] = dist + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def needleman_wunsch(a, b, gap):
    n, m = a.shape[0], b.shape[0]
    score = np.zeros((n + 1, m + 1))
    score[:, 0] = -gap * np.arange(n + 1)
    score[0, :] = -gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = score[i - 1, j - 1] + (1.0 if a[i - 1] == b[j - 1] else -1.0)
            delete = score[i - 1, j] - gap
            insert = score[i, j - 1] - gap
            score[i, j] = max(match, delete, insert)
    return score


def smith_waterman(a, b, gap):
    n, m = a.shape[0], b.shape[0]
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = 2.0 if a[i - 1] == b[j - 1] else -1.0
            h[i, j] = max(0.0, h[i - 1, j - 1] + s, h[i - 1, j] - gap, h[i, j - 1] - gap)
    best = h.max()
    return h, best


def matrix_chain(p):
    """Fewest multiplications, interval by interval."""
    n = p.shape[0] - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = np.inf
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if c < best:
                    best = c
            cost[i, j] = best
    return cost


def interval_game(values):
    """Both ends of a row of coins: loops over i downwards, j upwards."""
    n = values.shape[0]
    v = np.zeros((n + 1, n + 1))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n + 1):
            v[i, j] = max(values[i] - v[i + 1, j], values[j - 1] - v[i, j - 1])
    return v


def base_pairs(seq):
    """Nussinov's recurrence."""
    n = seq.shape[0]
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            if seq[i] + seq[j] == 3 and i < j - 1:
                best = max(best, table[i + 1, j - 1] + 1)
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def knapsack(weights, values, capacity):
    """Rows in order, capacities in parallel."""
    n = weights.shape[0]
    best = np.zeros((n + 1, capacity + 1))
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            best[i, c] = best[i - 1, c]
            if weights[i - 1] <= c:
                take = best[i - 1, c - weights[i - 1]] + values[i - 1]
                if take > best[i, c]:
                    best[i, c] = take
    return best[n, capacity]


def viterbi(log_start, log_trans, log_emit):
    T, S = log_emit.shape
    delta = np.zeros((T, S))
    back = np.zeros((T, S), dtype=np.int64)
    delta[0] = log_start + log_emit[0]
    for t in range(1, T):
        for s in range(S):
            scores = delta[t - 1] + log_trans[:, s]
            back[t, s] = np.argmax(scores)
            delta[t, s] = np.max(scores) + log_emit[t, s]
    return delta, back


def hmm_forward(start, trans, emit):
    T, S = emit.shape
    alpha = np.zeros((T, S))
    alpha[0] = start * emit[0]
    for t in range(1, T):
        alpha[t] = (alpha[t - 1] @ trans) * emit[t]
        alpha[t] /= alpha[t].sum()
    return alpha


def pascal(n):
    t = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        t[i, 0] = 1
        for j in range(1, i + 1):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]
    return t


def grid_paths(cost):
    """The cheapest path down and right, in place."""
    n, m = cost.shape
    best = cost.copy()
    for j in range(1, m):
        best[0, j] += best[0, j - 1]
    for i in range(1, n):
        best[i, 0] += best[i - 1, 0]
    for i in range(1, n):
        for j in range(1, m):
            best[i, j] += min(best[i - 1, j], best[i, j - 1])
    return best


def seam_costs(energy):
    n, m = energy.shape
    cost = energy.copy()
    for i in range(1, n):
        for j in range(m):
            left = cost[i - 1, max(j - 1, 0)]
            up = cost[i - 1, j]
            right = cost[i - 1, min(j + 1, m - 1)]
            cost[i, j] += min(left, up, right)
    return cost


def integral_image(x):
    n, m = x.shape
    s = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            s[i + 1, j + 1] = x[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
    return s


def longest_increasing(x):
    n = x.shape[0]
    best = np.ones(n, dtype=np.int64)
    for i in range(1, n):
        for j in range(i):
            if x[j] < x[i]:
                best[i] = max(best[i], best[j] + 1)
    return best.max()


def coin_change(coins, total):
    ways = np.zeros(total + 1, dtype=np.int64)
    ways[0] = 1
    for c in coins:
        for v in range(c, total + 1):
            ways[v] += ways[v - c]
    return ways[total]


def distance_of_segments(x, length):
    """How often the inner loop runs is computed of the outer loop's index."""
    s = 0.0
    width = length // x.shape[0]
    for t in range(x.shape[0]):
        start = t * width
        for k in range(start, width * (t + 1)):
            s += (x[t] - k) ** 2
    return np.sqrt(s)
