"""Truly sequential loops: one thread, only when asked for."""

import numpy as np


def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def bubblesort(X):
    N = len(X)
    for end in range(N, 1, -1):
        for i in range(end - 1):
            cur = X[i]
            if cur > X[i + 1]:
                tmp = X[i]
                X[i] = X[i + 1]
                X[i + 1] = tmp


def insertion_sort(x):
    for i in range(1, x.shape[0]):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key


def saturating(x, alpha):
    """What is kept is not linear in what was kept."""
    s = np.empty_like(x)
    s[0] = x[0]
    for t in range(1, len(x)):
        s[t] = alpha * x[t] + np.tanh(s[t - 1])
    return s


def random_access(nxt, start, steps):
    """Pointer chasing."""
    path = np.zeros(steps, dtype=np.int64)
    at = start
    for k in range(steps):
        path[k] = at
        at = nxt[at]
    return path


def longest_run(x):
    best = 0
    run = 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            run += 1
            if run > best:
                best = run
        else:
            run = 0
    return best


def merge(a, b):
    n, m = a.shape[0], b.shape[0]
    out = np.empty(n + m)
    i = 0
    j = 0
    for k in range(n + m):
        if i < n and (j >= m or a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


def union_find(parent, a, b):
    for e in range(a.shape[0]):
        u = a[e]
        while parent[u] != u:
            u = parent[u]
        v = b[e]
        while parent[v] != v:
            v = parent[v]
        if u != v:
            parent[u] = v
    return parent
