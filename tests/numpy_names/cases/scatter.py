"""Updates at positions that the data gives; histograms."""

from tests.numpy_names.case import REAL, Row
from tests.numpy_names.case import rows as make_rows


def at(names: str, *cases: str, **options: object) -> dict[str, Row]:
    """Rows named `numpy.<ufunc>.at`."""
    return {f"{n}.at": row for n, row in make_rows("numpy.", names, *cases, **options).items()}


CASES = ("np.{}.at(v, j, w)", "np.{}.at(v, j, 2)")
# values of another dtype, whose negatives it does not hold
OTHERS = ("np.{}.at(v, j, np.abs(w).astype(np.uint8))", "np.{}.at(v, j, w.astype(np.int8))")

ROWS: dict[str, Row] = {
    # of a Python number and uint64 NumPy makes float64
    **at(
        "add",
        *CASES[:1],
        "np.{}.at(v, j, v.dtype.type(2))",
        *OTHERS[:1],
        dtypes=f"i4 i8 u4 u8 {REAL}",
        tolerance=64,
        special="",
    ),
    **at("subtract", *CASES, *OTHERS, dtypes=f"i4 i8 u4 {REAL}", tolerance=64, special=""),
    **at("maximum minimum", *CASES, dtypes=f"i4 i8 {REAL}", tolerance=0, special=""),
    "numpy.histogram": Row(
        "np.histogram(v)",
        "np.histogram(v, bins=4, range=(-1.5, 2.5))",
        "np.histogram(A, 5, weights=B)",
        "np.histogram(v, [-2.0, 0.0, 0.5, 3.0])",
        "np.histogram(v, bins=6, range=(0, 3), density=True)",
        dtypes=f"u1 i2 i4 i8 {REAL}",
        tolerance=64,
    ),
    "numpy.bincount": Row(
        "np.bincount(v)", "np.bincount(v, minlength=9)", dtypes="i1 i4 i8 u1 u4", domain="pos"
    ),
    "numpy.histogram_bin_edges": Row(
        "np.histogram_bin_edges(v, 7)", dtypes=f"i4 i8 {REAL}", tolerance=4
    ),
    **at("bitwise_and bitwise_or bitwise_xor", *CASES[:1], dtypes="i4 u4 i8 u8", tolerance=0),
}
