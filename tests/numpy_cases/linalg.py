"""Products and norms."""

from numpy_case import COMPLEX, REAL, Row, rows

PRODUCTS = f"i4 u1 {REAL} {COMPLEX}"

ROWS: dict[str, Row] = {
    "numpy.matmul": Row(
        "np.matmul(v, w)",
        "np.matmul(A, M)",
        "np.matmul(A, r)",
        "np.matmul(r, M)",
        "np.matmul(C, N)",
        dtypes=PRODUCTS,
        tolerance=32,
        special="f",
    ),
    "numpy.dot": Row(
        "np.dot(v, w)",
        "np.dot(A, M)",
        "np.dot(A, r)",
        "np.dot(v, 2)",
        dtypes=PRODUCTS,
        tolerance=32,
        special="f",
    ),
    "numpy.inner": Row(
        "np.inner(v, w)",
        "np.inner(A, B)",
        "np.inner(A, r)",
        dtypes=PRODUCTS,
        tolerance=32,
        special="f",
    ),
    "numpy.vdot": Row("np.vdot(v, w)", dtypes=PRODUCTS, tolerance=32, special="f"),
    "numpy.outer": Row("np.outer(v, w)", "np.outer(v, r)", dtypes=PRODUCTS, special="f"),
    "numpy.trace": Row("np.trace(S)", dtypes=PRODUCTS, tolerance=32, special="f"),
    **rows(
        "numpy.linalg.",
        "norm",
        "np.linalg.{}(v)",
        "np.linalg.{}(A)",
        "np.linalg.{}(A, axis=1)",
        "np.linalg.{}(A, axis=0, keepdims=True)",
        "np.linalg.{}(v, 1)",
        "np.linalg.{}(v, np.inf)",
        "np.linalg.{}(A, 'fro')",
        dtypes=f"i4 {REAL} {COMPLEX}",
        tolerance=64,
        special="",
    ),
}
