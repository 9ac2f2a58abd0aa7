"""Sparse matrices in compressed rows, gathers."""

import numpy as np


def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i] : A_row[i + 1]]
        vals = A_val[A_row[i] : A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


def spmv_loops(indptr, indices, data, x, y):
    """Both loops written out, result into an argument."""
    for i in range(len(y)):
        s = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s


def spmm(data, indices, indptr, X):
    """Sparse times dense matrix."""
    n = indptr.shape[0] - 1
    out = np.zeros((n, X.shape[1]))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            out[i, :] += data[k] * X[indices[k], :]
    return out


def row_sums_csr(data, indptr):
    n = indptr.shape[0] - 1
    out = np.zeros(n)
    for i in range(n):
        out[i] = data[indptr[i] : indptr[i + 1]].sum()
    return out


def row_lengths(indptr):
    return indptr[1:] - indptr[:-1]


def scale_csr_rows(data, indptr, s):
    for i in range(indptr.shape[0] - 1):
        data[indptr[i] : indptr[i + 1]] *= s[i]


def take(x, idx):
    return x[idx]


def take_rows(a, idx):
    return a[idx]


def ell_matvec(values, columns, x):
    """ELLPACK: the same number of entries in every row."""
    return (values * x[columns]).sum(axis=1)


def jacobi_csr(data, indices, indptr, diag, b, x, sweeps):
    n = b.shape[0]
    for _ in range(sweeps):
        new = x.copy()
        for i in range(n):
            acc = b[i]
            for k in range(indptr[i], indptr[i + 1]):
                acc -= data[k] * x[indices[k]]
            new[i] = acc / diag[i]
        x = new
    return x


def diagonal_matvec(d, lower, upper, x):
    """A tridiagonal matrix by its three diagonals."""
    y = d * x
    y[1:] += lower * x[:-1]
    y[:-1] += upper * x[1:]
    return y


def coo_values(values, rows, cols, dense):
    return values * dense[rows, cols]
