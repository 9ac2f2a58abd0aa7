"""Python's own functions and those of `math`, on one element."""

from tests.numpy_names.case import INTEGER, NUMBER, REAL, Row, rows

EACH = """\
for i in range(v.shape[0]):
    o[i] = {}
"""


def each(prefix: str, names: str, call: str, **options: object) -> dict[str, Row]:
    """A loop that calls the function on every element."""
    return rows(prefix, names, EACH.replace("{}", call), **options)


ROWS: dict[str, Row] = {
    **each(
        "math.",
        "sin cos tan sinh cosh tanh asinh atan fabs degrees radians erf erfc",
        "math.{}(v[i])",
    ),
    **each("math.", "exp exp2 expm1", "math.{}(v[i])", special=""),
    **each("math.", "sqrt log log2 log10 log1p cbrt", "math.{}(v[i])", domain="pos", special=""),
    **each("math.", "gamma lgamma", "math.{}(v[i])", domain="pos", special=""),
    **each("math.", "asin acos atanh", "math.{}(v[i])", domain="unit", special=""),
    **each("math.", "acosh", "math.{}(v[i])", domain="over", special=""),
    **each("math.", "floor ceil trunc", "math.{}(v[i])", dtypes="f8", special=""),
    **each("math.", "isnan isinf isfinite", "math.{}(v[i])"),
    **each("math.", "hypot atan2 copysign", "math.{}(v[i], w[i])"),
    **each("math.", "fmod pow", "math.{}(v[i], w[i])", domain="pos", special=""),
    **each("builtins.", "abs", "abs(v[i])", dtypes=NUMBER),
    **each("builtins.", "round", "round(v[i] * 2)", special=""),
    **each("builtins.", "max min", "{}(v[i], w[i])", dtypes=NUMBER),
    **each("builtins.", "float", "float(v[i])", dtypes=NUMBER),
    **each("builtins.", "int", "int(v[i])", special=""),
    **each("builtins.", "bool", "bool(v[i])", dtypes=NUMBER),
    "builtins.complex": Row(EACH.replace("{}", "abs(complex(v[i], w[i]))"), dtypes="f8"),
    # the sum of nothing is Python's 0
    **rows(
        "builtins.", "sum", "{}(v)", "{}(A)", dtypes=f"b1 {INTEGER} {REAL}", least=1, tolerance=32
    ),
    **rows("builtins.", "any all", "{}(v)", dtypes="b1 i4 f8", domain="ties"),
    "builtins.range": Row("for i in range(v.shape[0]):\n    o[i] = v[i] * i"),
    "builtins.len": Row("v * len(v)"),
    "builtins.enumerate": Row("for i, x in enumerate(v):\n    o[i] = x * i"),
    "builtins.zip": Row("s = v[:1].sum()\nfor x, y in zip(v, w):\n    s += x * y\nreturn s"),
    "builtins.map": Row("x, y = map(np.sin, (v, w))\nreturn x + y", dtypes=REAL),
    "builtins.divmod": Row(
        "x, y = divmod(v, w)\nreturn x + y", dtypes=f"{INTEGER} {REAL}", domain="nonzero"
    ),
    "builtins.pow": Row(
        "o[:] = pow(v, 2)",
        "for i in range(len(v)):\n    o[i] = pow(v[i], 3)",
        "pow(v, w)",
        dtypes="f4 f8",
        domain="pos",
    ),
    "builtins.reversed": Row("for i in reversed(range(len(v))):\n    o[i] = v[i] * i"),
    "numpy.ndindex": Row("for i, k in np.ndindex(A.shape):\n    O[i, k] = A[i, k] * i"),
    "numpy.ndenumerate": Row("for (i, k), x in np.ndenumerate(A):\n    O[i, k] = x * k"),
}
