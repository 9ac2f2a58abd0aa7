"""Reductions and statistics."""

from tests.numpy_names.case import ANY, COMPLEX, NUMBER, REAL, Row, rows

KEYS = ("np.{}(v)", "np.{}(A, axis=0)", "np.{}(A, 1)", "np.{}(C, axis=(0, 2))",
        "np.{}(A, axis=-1, keepdims=True)", "np.{}(A, keepdims=True)")  # fmt: skip
SUMS = f"b1 i1 i4 i8 u1 u8 {REAL} {COMPLEX}"

OUT = ("np.{}(A, 0, out=r)", "np.{}(A, axis=1, out=o)")
WHERE = ("np.{}(A, where=P)", "np.{}(A, axis=0, where=A > 0)", "np.{}(A, axis=1, where=P[:, :1])")

ROWS: dict[str, Row] = {
    **rows("numpy.", "sum", *KEYS, "np.{}(A, axis=1, dtype=np.float64)", dtypes=SUMS, tolerance=32),
    **rows("numpy.", "prod", *KEYS, dtypes=SUMS, domain="small", tolerance=64, special=""),
    **rows("numpy.", "max min amax amin", *KEYS, dtypes=f"b1 {NUMBER}", tolerance=0),
    **rows("numpy.", "ptp", *KEYS, dtypes=f"i4 {REAL}", tolerance=0),
    **rows("numpy.", "any all", *KEYS, dtypes=ANY, domain="ties", tolerance=0),
    **rows(
        "numpy.",
        "count_nonzero",
        "np.{}(v)",
        "np.{}(A, axis=0)",
        "np.{}(A, axis=1, keepdims=True)",
        dtypes=ANY,
        domain="ties",
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "argmax argmin",
        "np.{}(v)",
        "np.{}(A)",
        "np.{}(A, axis=0)",
        "np.{}(A, -1)",
        "np.{}(A, axis=1, keepdims=True)",
        dtypes=f"b1 {NUMBER}",
        domain="ties",
        tolerance=0,
    ),
    **rows("numpy.", "mean", *KEYS, dtypes=f"b1 i4 u8 {REAL} {COMPLEX}", tolerance=32),
    **rows(
        "numpy.",
        "var std",
        *KEYS,
        "np.{}(A, axis=0, ddof=1)",
        dtypes=f"i4 {REAL} {COMPLEX}",
        tolerance=64,
    ),
    "numpy.average": Row(
        "np.average(v)",
        "np.average(v, weights=w)",
        "np.average(A, axis=1)",
        "np.average(A, axis=0, weights=B)",
        dtypes=REAL,
        domain="pos",
        tolerance=64,
        least=1,
    ),
    **rows(
        "numpy.",
        "nansum nanprod",
        *KEYS,
        "np.{}(A, axis=0, dtype=np.float64)",
        dtypes=f"i4 {REAL}",
        domain="small",
        tolerance=64,
    ),
    **rows("numpy.", "nanmax nanmin", *KEYS, dtypes=f"i4 {REAL}", tolerance=0),
    **rows("numpy.", "nanmean", *KEYS, dtypes=f"i4 {REAL}", tolerance=32),
    **rows(
        "numpy.",
        "nanvar nanstd",
        *KEYS,
        "np.{}(A, axis=0, ddof=1)",
        dtypes=f"i4 {REAL}",
        tolerance=64,
    ),
    **rows(
        "numpy.",
        "cov",
        "np.{}(v)",
        "np.{}(A.T)",
        "np.{}(A, rowvar=False)",
        "np.{}(A, rowvar=False, bias=True)",
        "np.{}(A, rowvar=0, ddof=0)",
        "np.{}(v, w)",
        "np.{}(A.T, r)",
        dtypes=f"i4 {REAL}",
        tolerance=256,
        least=1,
    ),
    **rows(
        "numpy.",
        "corrcoef",
        "np.{}(v)",
        "np.{}(A.T)",
        "np.{}(A, rowvar=False)",
        dtypes=REAL,
        tolerance=1024,
        least=2,
        special="",
    ),
}
