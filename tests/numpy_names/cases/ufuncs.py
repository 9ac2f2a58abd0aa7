"""The methods of ufuncs."""

from tests.numpy_names.case import COMPLEX, INTEGER, REAL, Row, rows

REDUCE = ("np.{}.reduce(v)", "np.{}.reduce(A)", "np.{}.reduce(A, axis=1)",
          "np.{}.reduce(A, axis=None)", "np.{}.reduce(C, axis=(0, 2), keepdims=True)")  # fmt: skip
OUTER = ("np.{}.outer(v, w)", "np.{}.outer(v, A)", "np.{}.outer(r, 2)")
ACCUMULATE = ("np.{}.accumulate(v)", "np.{}.accumulate(A)", "np.{}.accumulate(A, axis=1)")


def methods(method: str, names: str, *cases: str, **options: object) -> dict[str, Row]:
    """Rows named `numpy.<ufunc>.<method>`."""
    found = rows("numpy.", names, *cases, **options)
    return {f"{name}.{method}": row for name, row in found.items()}


ROWS: dict[str, Row] = {
    **methods(
        "reduce",
        "add multiply",
        *REDUCE,
        dtypes=f"b1 i4 u1 {REAL} {COMPLEX}",
        domain="small",
        tolerance=64,
        special="f",
    ),
    **methods("reduce", "maximum minimum", *REDUCE, dtypes=f"b1 i4 u1 {REAL}", tolerance=0),
    **methods(
        "reduce",
        "logical_and logical_or",
        *REDUCE,
        dtypes=f"b1 i4 {REAL}",
        domain="ties",
        tolerance=0,
    ),
    **methods("outer", "add multiply", *OUTER, dtypes=f"b1 i4 {REAL} {COMPLEX}", special="f"),
    **methods(
        "outer", "subtract maximum minimum fmax fmin", *OUTER, dtypes=f"i4 {REAL}", tolerance=0
    ),
    **methods(
        "outer",
        "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor",
        *OUTER,
        dtypes=f"i4 {REAL}",
        domain="ties",
        tolerance=0,
    ),
    **methods(
        "outer",
        "true_divide divide floor_divide remainder mod fmod power arctan2 hypot "
        "copysign logaddexp heaviside",
        "np.{}.outer(v, w)",
        dtypes=REAL,
        domain="pos",
    ),
    **methods(
        "outer",
        "bitwise_and bitwise_or bitwise_xor",
        *OUTER[:2],
        dtypes=f"b1 {INTEGER}",
        domain="pos",
        tolerance=0,
    ),
    **methods(
        "outer", "left_shift right_shift", *OUTER[:2], dtypes=INTEGER, domain="small", tolerance=0
    ),
    **methods(
        "accumulate",
        "add multiply",
        *ACCUMULATE,
        dtypes=f"b1 i4 {REAL}",
        domain="small",
        tolerance=64,
        special="",
    ),
    **methods(
        "accumulate",
        "maximum minimum logical_and logical_or",
        *ACCUMULATE,
        dtypes=f"b1 i4 {REAL}",
        domain="ties",
        tolerance=0,
    ),
}
