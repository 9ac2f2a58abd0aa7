"""Linear algebra written out as loops."""

import numpy as np


def lu_in_place(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


def lu_slices(A):
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def cholesky_loops(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = A[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = t / L[j, j]
    return L


def cholesky_rows(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def gram_schmidt(A):
    n, m = A.shape
    Q = np.zeros((n, m))
    R = np.zeros((m, m))
    for k in range(m):
        R[k, k] = np.sqrt(np.sum(A[:, k] ** 2))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, m):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def forward_substitution(L, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


def back_substitution(U, b):
    n = b.shape[0]
    x = b.copy()
    for i in range(n - 1, -1, -1):
        x[i] /= U[i, i]
        for j in range(i):
            x[j] -= U[j, i] * x[i]
    return x


def gauss_jordan(A, b):
    n = b.shape[0]
    for k in range(n):
        p = A[k, k]
        for j in range(n):
            A[k, j] = A[k, j] / p
        b[k] = b[k] / p
        for i in range(n):
            if i != k:
                f = A[i, k]
                for j in range(n):
                    A[i, j] -= f * A[k, j]
                b[i] -= f * b[k]
    return b


def thomas_batch(a, b, c, d):
    """A tridiagonal system in every row."""
    n, m = d.shape
    cp = np.zeros_like(c)
    x = np.zeros_like(d)
    for r in range(n):
        cp[r, 0] = c[r, 0] / b[r, 0]
        x[r, 0] = d[r, 0] / b[r, 0]
        for i in range(1, m):
            w = b[r, i] - a[r, i] * cp[r, i - 1]
            cp[r, i] = c[r, i] / w
            x[r, i] = (d[r, i] - a[r, i] * x[r, i - 1]) / w
        for i in range(m - 2, -1, -1):
            x[r, i] -= cp[r, i] * x[r, i + 1]
    return x


def thomas_columns(a, b, c, d):
    """The same, all columns at once."""
    n = d.shape[0]
    cp = np.empty_like(d)
    dp = np.empty_like(d)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        w = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / w
        dp[i] = (d[i] - a[i] * dp[i - 1]) / w
    for i in range(n - 2, -1, -1):
        dp[i] = dp[i] - cp[i] * dp[i + 1]
    return dp


def power_method(A, x, tol, most):
    lam = 0.0
    for _ in range(most):
        y = A @ x
        new = np.sqrt(np.sum(y * y))
        x = y / new
        if abs(new - lam) < tol:
            lam = new
            break
        lam = new
    return lam, x


def jacobi_solve(A, b, tol, most):
    x = np.zeros_like(b)
    d = np.diag(A)
    for it in range(most):
        new = (b - A @ x + d * x) / d
        if np.max(np.abs(new - x)) < tol:
            return new, it
        x = new
    return x, most


def gauss_seidel_2d(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def gauss_seidel_nine(u, sweeps):
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = (
                    u[i - 1, j - 1]
                    + u[i - 1, j]
                    + u[i - 1, j + 1]
                    + u[i, j - 1]
                    + u[i, j]
                    + u[i, j + 1]
                    + u[i + 1, j - 1]
                    + u[i + 1, j]
                    + u[i + 1, j + 1]
                ) / 9.0
    return u


def gauss_seidel_3d(u):
    n, m, p = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(1, p - 1):
                u[i, j, k] = (u[i - 1, j, k] + u[i, j - 1, k] + u[i, j, k - 1] + u[i + 1, j, k]) / 4


def sor(u, f, omega, sweeps):
    n, m = u.shape
    for s in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                r = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j] - f[i, j]
                u[i, j] += omega * r / 4.0
    return u


def seidel_backwards(u):
    for i in range(u.shape[0] - 2, 0, -1):
        for j in range(u.shape[1] - 2, 0, -1):
            u[i, j] = 0.5 * (u[i + 1, j] + u[i, j + 1])


def red_black(u, sweeps):
    n, m = u.shape
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, m - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def conjugate_gradient(A, b, n_iter):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = np.dot(r, r)
    for _ in range(n_iter):
        Ap = A @ p
        alpha = rs / np.dot(p, Ap)
        x += alpha * p
        r -= alpha * Ap
        new = np.dot(r, r)
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x


def matmul_loops(a, b):
    n, k = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for p in range(k):
                c[i, j] += a[i, p] * b[p, j]
    return c


def matmul_ikj(a, b):
    n, k = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for p in range(k):
            for j in range(m):
                c[i, j] += a[i, p] * b[p, j]
    return c


def trmm_loops(A, B):
    n, m = B.shape
    for i in range(n):
        for j in range(m):
            for k in range(i + 1, n):
                B[i, j] += A[k, i] * B[k, j]


def syrk_loops(C, A, alpha, beta):
    n, m = A.shape
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def symm_loops(C, A, B, alpha, beta):
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            temp = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp


def floyd_warshall_loops(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def transitive_closure(reach):
    n = reach.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                reach[i, j] = reach[i, j] or (reach[i, k] and reach[k, j])


def tril_inverse(L):
    n = L.shape[0]
    X = np.zeros_like(L)
    for j in range(n):
        X[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s += L[i, k] * X[k, j]
            X[i, j] = -s / L[i, i]
    return X


def trace_loop(a):
    t = 0.0
    for i in range(a.shape[0]):
        t += a[i, i]
    return t


def frobenius(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j] ** 2
    return np.sqrt(s)
