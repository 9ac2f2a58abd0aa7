"""Gaussian elimination as textbooks write it: a turn finishes a row and a column of the matrix."""

import numpy as np


def gauss(A):
    """The factors of LU in one matrix, by three loops."""
    n = A.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


def outer_products(A):
    """The same by array statements."""
    for k in range(A.shape[0] - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def with_right_side(A, b):
    """A system that is eliminated, and solved from its last row."""
    n = b.size
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def zeros_are_left_out(a, b):
    """Rows that have a zero already are not touched."""
    n = len(b)
    for k in range(0, n - 1):
        for i in range(k + 1, n):
            if a[i, k] != 0.0:
                lam = a[i, k] / a[k, k]
                a[i, k + 1 : n] = a[i, k + 1 : n] - lam * a[k, k + 1 : n]
                b[i] = b[i] - lam * b[k]
                a[i, k] = lam


def augmented(M):
    """The right-hand sides are further columns; multiples of rows are not kept."""
    n = M.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            f = M[i, k] / M[k, k]
            for j in range(k, M.shape[1]):
                M[i, j] -= f * M[k, j]
    return M


def upper_cholesky(A):
    """The factor is above the diagonal: a turn reads its row twice."""
    n = A.shape[0]
    for k in range(n):
        A[k, k] = np.sqrt(A[k, k])
        A[k, k + 1 :] /= A[k, k]
        for j in range(k + 1, n):
            for i in range(k + 1, j + 1):
                A[i, j] -= A[k, i] * A[k, j]


def schur_complement(A, m):
    """Only the first turns: what is left has not been eliminated."""
    for k in range(m):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A[m:, m:].copy()


def with_determinant(A):
    """A number that each turn multiplies by its pivot."""
    det = 1.0
    for k in range(A.shape[0]):
        det *= A[k, k]
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return det


def rows_scaled_afterwards(A):
    """A row changes after others have been computed from it."""
    for k in range(A.shape[0]):
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :]) / A[k, k]
        A[k, k + 1 :] /= A[k, k]


def checked_pivots(A, smallest):
    """A turn raises where it cannot divide by what the turns before it have left."""
    n = A.shape[0]
    for k in range(n - 1):
        if abs(A[k, k]) < smallest:
            raise ValueError("the matrix is singular")
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def partial_pivoting(a, b, smallest):
    """Rows change places, so that no multiple is larger than one."""
    n = len(b)
    for k in range(0, n - 1):
        p = np.argmax(np.abs(a[k:n, k])) + k
        if abs(a[p, k]) < smallest:
            raise ValueError("the matrix is singular")
        if p != k:
            t = b[k]
            b[k] = b[p]
            b[p] = t
            a[[k, p]] = a[[p, k]]
        for i in range(k + 1, n):
            if a[i, k] != 0.0:
                lam = a[i, k] / a[k, k]
                a[i, k + 1 : n] = a[i, k + 1 : n] - lam * a[k, k + 1 : n]
                b[i] = b[i] - lam * b[k]
