"""Running folds."""

from tests.numpy_names.case import REAL, Row, rows

SUMS = ("np.{}(v)", "np.{}(A)", "np.{}(A, axis=0)", "np.{}(A, axis=-1)",
        "np.{}(A, axis=1, dtype=np.float64)")  # fmt: skip

ROWS: dict[str, Row] = {
    **rows(
        "numpy.",
        "cumsum cumprod nancumsum nancumprod",
        *SUMS,
        dtypes=f"b1 i4 u1 {REAL}",
        domain="small",
        tolerance=64,
    ),
    **rows(
        "numpy.",
        "cumulative_sum cumulative_prod",
        "np.{}(v)",
        "np.{}(A, axis=1)",
        dtypes=f"i4 {REAL}",
        domain="small",
        tolerance=64,
    ),
    **rows(
        "ndarray.",
        "cumsum cumprod",
        "v.{}()",
        "A.{}(axis=0)",
        "A.{}(1)",
        dtypes=f"i4 {REAL}",
        domain="small",
        tolerance=64,
    ),
}
