"""Making arrays and converting them."""

from numpy_case import ANY, NUMBER, REAL, Row, rows

ROWS: dict[str, Row] = {
    **rows(
        "numpy.",
        "zeros ones",
        "np.{}(v.shape)",
        "np.{}((v.shape[0], 3), dtype=np.float32)",
        "np.{}(len(v), dtype=v.dtype)",
        dtypes="i4 f4 f8",
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "zeros_like ones_like",
        "np.{}(A)",
        "np.{}(v, dtype=np.int64)",
        dtypes=ANY,
        tolerance=0,
    ),
    "numpy.empty": Row("x = np.empty(v.shape, v.dtype)\nx[:] = v\nreturn x", dtypes=NUMBER),
    "numpy.empty_like": Row("x = np.empty_like(A)\nx[:] = A\nreturn x", dtypes=ANY),
    "numpy.full": Row(
        "np.full(v.shape, 2.5)",
        "np.full((len(v), 2), 3)",
        "np.full(len(v), s, dtype=v.dtype)",
        dtypes=REAL,
        tolerance=0,
    ),
    "numpy.full_like": Row(
        "np.full_like(A, 2)", "np.full_like(v, 2, dtype=np.float32)", dtypes=NUMBER, tolerance=0
    ),
    "numpy.arange": Row(
        "v + np.arange(len(v))",
        "np.arange(2, len(v) + 2) * v",
        "np.arange(0, 2 * len(v), 2) + v",
        "v * np.arange(len(v), dtype=np.float32)",
        dtypes=f"i4 {REAL}",
    ),
    "numpy.linspace": Row(
        "v * np.linspace(0, 1, len(v))",
        "np.linspace(s, 2.0, num=len(v)) + v",
        "v + np.linspace(-1, 1, len(v), endpoint=False)",
        dtypes=REAL,
    ),
    **rows(
        "numpy.",
        "eye",
        "S + np.{}(len(S))",
        "np.{}(S.shape[0], S.shape[1], 1) + S",
        "S + np.{}(len(S), k=-1, dtype=S.dtype)",
        dtypes=REAL,
        tolerance=0,
    ),
    **rows("numpy.", "identity", "S + np.{}(len(S))", dtypes=REAL, tolerance=0),
    **rows("numpy.", "copy", "np.{}(A)", dtypes=ANY, tolerance=0),
    **rows(
        "numpy.",
        "asarray asanyarray",
        "np.{}(A) + A",
        "np.{}(v, dtype=np.float64)",
        dtypes=NUMBER,
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "ascontiguousarray",
        "np.{}(A.T) + A.T",
        "np.{}(v, dtype=np.float64) + v",
        dtypes=NUMBER,
        tolerance=0,
    ),
    "numpy.array": Row(
        "np.array(v)",
        "np.array(A, dtype=np.float64)",
        "np.array([v.sum(), v.sum()])",
        dtypes=NUMBER,
        tolerance=32,
        special="",
    ),
    "numpy.finfo": Row(
        "v + np.finfo(v.dtype).eps",
        "v * np.finfo(np.float32).max",
        "np.maximum(v, np.finfo(float).tiny)",
        "v - np.finfo(v.dtype).min",
        "v * np.finfo(v.dtype).resolution",
        "v + np.finfo(1.0).smallest_normal",
        dtypes=REAL,
        tolerance=0,
    ),
    "numpy.iinfo": Row(
        "np.minimum(v, np.iinfo(v.dtype).max)",
        "v - np.iinfo(np.int8).min",
        dtypes="i2 i4 i8",
        tolerance=0,
    ),
}
