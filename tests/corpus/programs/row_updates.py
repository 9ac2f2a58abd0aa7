"""Elements that are updated with a reduction over their row."""

import numpy as np


def add_both_products(x1, x2, y1, y2, A):
    x1 += A @ y1
    x2 += y2 @ A


def scale_by_row_sum(x, A):
    x *= A.sum(axis=1)
    return A / x[:, None]


def total_into_element(A, x, k):
    x[k] -= np.dot(A[k, :k], A[k, :k])
    x[k] /= A[k, k] + 4.0


def center_rows(out, A):
    out[:] = A.mean(axis=1)
    out -= A.sum(axis=1)
    A -= out[:, None]
