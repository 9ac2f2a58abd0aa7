"""Loops over triangles: slices that grow with the loop, as factorisations and solvers have them."""

import numpy as np


def forward_substitution(L, b):
    """Solve L x = b for a lower triangular L."""
    x = np.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def back_substitution(U, b):
    """Solve U x = b for an upper triangular U."""
    n = b.shape[0]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(U[i, i + 1 :], x[i + 1 :])) / U[i, i]
    return x


def lu_in_place(A):
    """Doolittle's factorisation, both factors in A."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def symmetric_rank_update(C, A, alpha, beta):
    """The lower triangle of beta*C + alpha*A A'."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def prefix_energies(x):
    """The energy of every prefix of a signal."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = np.sum(x[: i + 1] ** 2)
    return out


def levinson(r):
    """Durbin's recursion for a Toeplitz system."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[:k][::-1], y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


def cholesky_in_place(A):
    """The lower factor of a symmetric positive definite matrix."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
