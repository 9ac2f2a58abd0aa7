"""Methods and attributes of arrays."""

from tests.numpy_names.case import ANY, COMPLEX, NUMBER, REAL, Row, rows

FEW = "b1 i4 u8 f4 f8 c16"
KEYS = ("v.{}()", "A.{}(axis=0)", "A.{}(1)", "A.{}(axis=-1, keepdims=True)", "C.{}(axis=(0, 2))")

ROWS: dict[str, Row] = {
    **rows("ndarray.", "sum mean", *KEYS, dtypes=f"i4 {REAL} {COMPLEX}", tolerance=32),
    **rows("ndarray.", "prod", *KEYS, dtypes=REAL, domain="pos", tolerance=64),
    **rows("ndarray.", "std var", *KEYS, "A.{}(axis=0, ddof=1)", dtypes=f"i4 {REAL}", tolerance=64),
    **rows("ndarray.", "max min", *KEYS, dtypes=NUMBER, tolerance=0),
    **rows("ndarray.", "any all", *KEYS, dtypes=FEW, domain="ties", tolerance=0),
    **rows(
        "ndarray.",
        "argmax argmin",
        "v.{}()",
        "A.{}(axis=0)",
        "A.{}(1)",
        dtypes=NUMBER,
        domain="ties",
        tolerance=0,
    ),
    **rows("ndarray.", "clip", "v.{}(1, 3)", "A.{}(max=2)", dtypes=NUMBER, tolerance=0),
    **rows("ndarray.", "round", "v.{}()", "A.{}(1)", dtypes=REAL),
    **rows("ndarray.", "copy", "A.{}()", dtypes=ANY, tolerance=0),
    **rows("ndarray.", "dot", "v.{}(w)", "A.{}(M)", "A.{}(r)", dtypes=f"i4 {REAL}", tolerance=32),
    **rows(
        "ndarray.",
        "transpose",
        "A.{}() * 1",
        "C.{}(1, 0, 2) * 1",
        "C.{}((2, 1, 0)) + 0",
        dtypes=FEW,
        tolerance=0,
    ),
    **rows("ndarray.", "swapaxes", "C.{}(0, 1) * 1", dtypes=FEW, tolerance=0),
    **rows("ndarray.", "squeeze", "R.{}(axis=1) * 1", dtypes=FEW, tolerance=0),
    **rows("ndarray.", "ravel flatten", "A.{}() * 1", dtypes=FEW, tolerance=0, least=1),
    **rows("ndarray.", "conj conjugate", "v.{}() * 2", dtypes=f"f8 {COMPLEX}", tolerance=0),
    **rows("ndarray.", "trace", "S.{}()", dtypes=f"i4 {REAL}", tolerance=32),
    "ndarray.astype": Row(
        "v.astype(np.float32)",
        "A.astype(np.int64)",
        "v.astype('float64')",
        "A.astype(bool)",
        dtypes=NUMBER,
        tolerance=0,
        special="",
    ),
    "ndarray.reshape": Row(
        "A.reshape(-1) * 1",
        "C.reshape(C.shape[0], -1) * 1",
        "v.reshape((-1, 1)) * 1",
        dtypes=FEW,
        tolerance=0,
        least=1,
    ),
    "ndarray.fill": Row("v.fill(2)", "A[1:].fill(s)", dtypes=REAL, tolerance=0),
    "ndarray.item": Row("v * v.sum().item()", dtypes="f8", tolerance=32),
    **rows("ndarray.", "real imag", "v.{} * 2", "A.{} + 1", dtypes=f"f8 {COMPLEX}", tolerance=0),
    "ndarray.T": Row("A.T * 1", "C.T + 0", dtypes=FEW, tolerance=0),
    "ndarray.shape": Row("v * A.shape[1]", tolerance=0),
    "ndarray.size": Row("v * A.size", tolerance=0),
    "ndarray.ndim": Row("v * A.ndim", tolerance=0),
    "ndarray.itemsize": Row("v * A.itemsize", tolerance=0),
    "ndarray.dtype": Row("np.zeros(len(v), A.dtype)", tolerance=0),
}
