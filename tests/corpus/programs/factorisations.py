"""Triangular factorisations as textbooks write them, and nests that look like one."""

import numpy as np


def lu_three_loops(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def doolittle(A):
    n = A.shape[0]
    L = np.eye(n)
    U = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            U[i, j] = A[i, j] - L[i, :i] @ U[:i, j]
        for j in range(i + 1, n):
            L[j, i] = (A[j, i] - L[j, :i] @ U[:i, i]) / U[i, i]
    return L, U


def banachiewicz(A):
    """Cholesky's factor, row by row; the diagonal takes the other branch."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def right_sides(L, B):
    """Forward substitution for some right-hand sides."""
    X = np.zeros_like(B)
    for i in range(L.shape[0]):
        for j in range(B.shape[1]):
            X[i, j] = (B[i, j] - L[i, :i] @ X[:i, j]) / L[i, i]
    return X


def stored_again(A):
    """What the sum reads may be stored again later."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[j, i] += 1.0


def with_itself(A):
    """The last term of a sum is the element itself."""
    for i in range(1, A.shape[0]):
        for j in range(1, i):
            A[i, j] -= A[i, 1 : j + 1] @ A[0, 1 : j + 1]
            A[i, j] /= A[i, j - 1]


def another_matrix(A, B):
    """With one array for both, the sums read what is not finished."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ B[j, :j]
            A[i, j] /= B[j, j]
