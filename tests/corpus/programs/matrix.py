"""Products of matrices and vectors."""

import numpy as np


def matvec(a, x):
    return a @ x


def vecmat(x, a):
    return np.dot(x, a)


def atax(A, x):
    return (A @ x) @ A


def bicg(A, p, r):
    return r @ A, A @ p


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def naive_matmul(a, b):
    n = a.shape[0]
    m = b.shape[1]
    k = a.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for l_ in range(k):
                c[i, j] += a[i, l_] * b[l_, j]
    return c


def matmul_accumulator(a, b):
    n, k = a.shape
    _, m = b.shape
    c = np.empty((n, m), dtype=a.dtype)
    for i in range(n):
        for j in range(m):
            acc = 0.0
            for p in range(k):
                acc += a[i, p] * b[p, j]
            c[i, j] = acc
    return c


def gram(x):
    return x.T @ x


def outer(x, y):
    return np.outer(x, y)


def outer_newaxis(x, y):
    return x[:, np.newaxis] * y[np.newaxis, :]


def dense_relu(x, w, b):
    return np.maximum(x @ w + b, 0.0)


def mlp(x, w1, b1, w2, b2):
    """Two layers."""
    h = np.tanh(np.matmul(x, w1) + b1)
    return h @ w2 + b2


def quadratic_form(x, a):
    return x @ a @ x


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def transpose_add(a):
    return a + a.T


def row_times_matrix_loop(a, x):
    n = a.shape[0]
    y = np.zeros(n)
    for i in range(n):
        y[i] = np.dot(a[i, :], x)
    return y


def triangular_part(a):
    """Lower triangle by loops with a bound that depends on the row."""
    n = a.shape[0]
    out = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = a[i, j]
    return out


def rank_one_update(A, u, v):
    A += np.outer(u, v)


def batched(a, b):
    """Matrix product over a leading batch axis."""
    return a @ b


def projection(points, rotation, offset):
    return points.dot(rotation.T) + offset


def attention_scores(q, k):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
