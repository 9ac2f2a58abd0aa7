"""Selections whose size the data decides."""

from tests.numpy_names.case import REAL, Row, rows

FEW = "b1 i4 f4 f8"

ROWS: dict[str, Row] = {
    "numpy.nonzero": Row(
        "np.nonzero(v)",
        "np.nonzero(v > 1)[0]",
        "np.nonzero(A > 0)",
        dtypes=FEW,
        domain="ties",
        tolerance=0,
    ),
    "ndarray.nonzero": Row(
        "v.nonzero()[0]", "(A > 0).nonzero()", dtypes=FEW, domain="ties", tolerance=0
    ),
    "numpy.flatnonzero": Row(
        "np.flatnonzero(v)", "np.flatnonzero(v > 0) * 2", dtypes=FEW, domain="ties", tolerance=0
    ),
    "numpy.argwhere": Row(
        "np.argwhere(A > 0)", "np.argwhere(v)", dtypes=FEW, domain="ties", tolerance=0
    ),
    **rows(
        "numpy.",
        "compress extract",
        "np.{}(p, v)",
        "np.{}(v > 0, v)",
        dtypes=f"i4 {REAL}",
        tolerance=0,
    ),
    "ndarray.compress": Row("v.compress(p)", dtypes=f"i4 {REAL}", tolerance=0),
}
