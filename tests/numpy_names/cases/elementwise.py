"""Functions of one element: ufuncs and their like."""

from tests.numpy_names.case import ANY, COMPLEX, INTEGER, NUMBER, REAL, UNSIGNED, Row, rows

FLOATING = f"i2 i8 u2 {REAL}"
SMALL = "b1 u1"  # float16 in NumPy
BITS = f"b1 {INTEGER}"

UFUNC = (
    "np.add(v, w, out=o)", "np.multiply(v, 2, o)", "np.add(v, w, out=o, where=p)",
    "np.exp2(d, out=d, where=d > 0)", "np.subtract(A, r, out=O)",
    "np.add(v, w, dtype=np.float64)", "np.add(v[1:], v[:-1], out=v[1:])\nv *= 2",
    "np.sqrt(d, out=d)", "np.maximum(A, B, out=A, where=P)", "np.negative(v, v)",
    "np.clip(A, 1, 3, out=A)",
    "np.divide(d, 2.0, out=np.zeros_like(d), where=d != 0)",
    "np.add(v, w, out=np.empty_like(v))",
)  # fmt: skip

ROWS: dict[str, Row] = {
    **rows("numpy.", "add", "np.{}(v, w)", "np.{}(A, r)", "np.{}(A, 2)", dtypes=ANY, tolerance=0),
    **rows("numpy.", "multiply", "np.{}(v, w)", "np.{}(A, r)", dtypes=ANY, special="f"),
    **rows(
        "numpy.",
        "subtract",
        "np.{}(v, w)",
        "np.{}(A, r)",
        "np.{}(2, A)",
        dtypes=f"{NUMBER} {COMPLEX}",
        tolerance=0,
        refused="b1",
    ),
    **rows(
        "numpy.",
        "true_divide divide",
        "np.{}(v, w)",
        "np.{}(A, 3)",
        dtypes=f"b1 {FLOATING} {COMPLEX}",
        domain="nonzero",
        special="",
    ),
    **rows(
        "numpy.",
        "floor_divide remainder mod",
        "np.{}(v, w)",
        "np.{}(A, -3.0)",
        dtypes=f"{NUMBER}",
        domain="nonzero",
        refused=COMPLEX,
    ),
    **rows("numpy.", "fmod", "np.{}(v, w)", dtypes=NUMBER, domain="nonzero", refused=COMPLEX),
    **rows("numpy.", "power", "np.{}(v, w)", dtypes=f"{UNSIGNED} {REAL}", domain="pos"),
    **rows(
        "numpy.", "negative", "np.{}(v)", dtypes=f"{NUMBER} {COMPLEX}", tolerance=0, refused="b1"
    ),
    **rows("numpy.", "positive", "np.{}(v)", dtypes=f"{NUMBER} {COMPLEX}", tolerance=0),
    **rows("numpy.", "absolute abs", "np.{}(v)", "np.{}(A)", dtypes=ANY),
    **rows(
        "numpy.", "fabs", "np.{}(v)", dtypes=FLOATING, tolerance=0, refused=f"{SMALL} {COMPLEX}"
    ),
    **rows("numpy.", "sign", "np.{}(v)", dtypes=NUMBER, tolerance=0, refused="b1"),
    **rows("numpy.", "square", "np.{}(v)", dtypes=f"{NUMBER} {COMPLEX}"),
    **rows("numpy.", "reciprocal", "np.{}(v)", dtypes=f"{REAL}", domain="nonzero"),
    # comparisons and logic
    **rows(
        "numpy.",
        "less less_equal greater greater_equal",
        "np.{}(v, w)",
        "np.{}(A, r)",
        dtypes=f"b1 {NUMBER}",
        refused=COMPLEX,
        domain="ties",
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "equal not_equal",
        "np.{}(v, w)",
        "np.{}(A, 2)",
        dtypes=ANY,
        domain="ties",
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "logical_and logical_or logical_xor",
        "np.{}(v, w)",
        "np.{}(P, A)",
        dtypes=ANY,
        domain="ties",
        tolerance=0,
    ),
    **rows("numpy.", "logical_not", "np.{}(v)", "np.{}(A)", dtypes=ANY, domain="ties", tolerance=0),
    **rows(
        "numpy.",
        "bitwise_and bitwise_or bitwise_xor",
        "np.{}(v, w)",
        dtypes=BITS,
        domain="wide",
        tolerance=0,
        refused=f"{REAL} {COMPLEX}",
    ),
    **rows(
        "numpy.",
        "invert bitwise_not",
        "np.{}(v)",
        dtypes=BITS,
        domain="wide",
        tolerance=0,
        refused=f"{REAL} {COMPLEX}",
    ),
    **rows(
        "numpy.",
        "left_shift right_shift bitwise_left_shift bitwise_right_shift",
        "np.{}(v, w)",
        "np.{}(v, 2)",
        dtypes=INTEGER,
        domain="pos",
        tolerance=0,
    ),
    **rows(
        "numpy.",
        "maximum minimum fmax fmin",
        "np.{}(v, w)",
        "np.{}(A, r)",
        "np.{}(A, 1)",
        dtypes=f"b1 {NUMBER}",
        tolerance=0,
        refused=COMPLEX,
    ),
    **rows("numpy.", "isnan isinf isfinite", "np.{}(v)", dtypes=ANY, tolerance=0),
    **rows("numpy.", "signbit", "np.{}(v)", dtypes=f"i4 {REAL}", tolerance=0),
    # exp, log and roots
    **rows("numpy.", "sqrt", "np.{}(v)", "np.{}(A)", dtypes=FLOATING, refused=SMALL, domain="pos"),
    **rows("numpy.", "cbrt", "np.{}(v)", dtypes=FLOATING, refused=SMALL),
    **rows(
        "numpy.",
        "exp exp2 expm1",
        "np.{}(v)",
        "np.{}(A)",
        dtypes=FLOATING,
        refused=SMALL,
        domain="small",
    ),
    **rows(
        "numpy.",
        "log log2 log10 log1p",
        "np.{}(v)",
        "np.{}(A)",
        dtypes=FLOATING,
        refused=SMALL,
        domain="pos",
    ),
    **rows("numpy.", "logaddexp", "np.{}(v, w)", dtypes=FLOATING, refused=SMALL),
    # trigonometry
    **rows(
        "numpy.",
        "sin cos tan arctan sinh cosh tanh arcsinh atan asinh",
        "np.{}(v)",
        dtypes=FLOATING,
        refused=SMALL,
        domain="unit",
    ),
    **rows(
        "numpy.", "arcsin arccos arctanh asin acos atanh", "np.{}(v)", dtypes=REAL, domain="unit"
    ),
    **rows("numpy.", "arccosh acosh", "np.{}(v)", dtypes=REAL, domain="over"),
    **rows(
        "numpy.",
        "arctan2 hypot atan2",
        "np.{}(v, w)",
        "np.{}(A, r)",
        dtypes=FLOATING,
        refused=SMALL,
    ),
    **rows("numpy.", "copysign", "np.{}(v, w)", dtypes=REAL, tolerance=0),
    **rows("numpy.", "deg2rad rad2deg radians degrees", "np.{}(v)", dtypes=FLOATING, refused=SMALL),
    **rows("numpy.", "sinc", "np.{}(v)", dtypes=REAL, special=""),
    # rounding
    **rows("numpy.", "floor ceil trunc", "np.{}(v)", dtypes=f"b1 {NUMBER}", tolerance=0),
    **rows("numpy.", "rint", "np.{}(v)", dtypes=FLOATING, refused=SMALL, tolerance=0),
    **rows(
        "numpy.",
        "round around",
        "np.{}(v)",
        "np.{}(A, 2)",
        "np.{}(v, decimals=1)",
        dtypes=f"{NUMBER}",
    ),
    **rows("numpy.", "heaviside", "np.{}(v, 0.5)", "np.{}(v, w)", dtypes=REAL, domain="ties"),
    # the parts of a complex number
    **rows(
        "numpy.",
        "conj conjugate angle",
        "np.{}(v)",
        dtypes=f"i4 {REAL} {COMPLEX}",
        special="",
    ),
    # alone it is the argument itself, or a view of it
    **rows("numpy.", "imag real", "np.{}(v) + v", dtypes=f"i4 {REAL} {COMPLEX}", special=""),
    # choices
    "numpy.where": Row(
        "np.where(p, v, w)",
        "np.where(A > 0, A, 0)",
        "np.where(v > w, 1, v)",
        dtypes=NUMBER,
        tolerance=0,
    ),
    "numpy.clip": Row(
        "np.clip(v, 1, 3)",
        "np.clip(A, None, r)",
        "np.clip(v, w, None)",
        "np.clip(v, a_min=1, a_max=2)",
        dtypes=NUMBER,
        tolerance=0,
    ),
    "numpy.nan_to_num": Row(
        "np.nan_to_num(v, nan=1.0, posinf=2.0, neginf=-2.0)", dtypes=REAL, tolerance=0
    ),
    "numpy.isclose": Row(
        "np.isclose(v, w)",
        "np.isclose(v, w, rtol=0.1, atol=0.5)",
        dtypes=f"i4 {REAL}",
        domain="ties",
        tolerance=0,
    ),
    # formulas
    **rows("numpy.", "fix", "np.{}(v)", dtypes=f"i4 {REAL}", tolerance=0),
    **rows("numpy.", "modf", "np.{}(v)", dtypes=f"i4 {REAL}", tolerance=0),
    **rows("numpy.", "divmod", "np.{}(v, w)", dtypes=NUMBER, domain="nonzero"),
    **rows("numpy.", "float_power", "np.{}(v, w)", dtypes=f"i4 {REAL}", domain="pos"),
    # the larger argument and the logarithm nearly cancel where the result is close to zero
    **rows("numpy.", "logaddexp2", "np.{}(v, w)", dtypes=FLOATING, refused=SMALL, tolerance=16),
    **rows("numpy.", "isposinf isneginf", "np.{}(v)", dtypes=f"i4 {REAL}", tolerance=0),
    "numpy.allclose": Row(
        "np.allclose(v, w, atol=5)",
        "np.allclose(A, A)",
        "np.allclose(v, v, equal_nan=True)",
        dtypes=f"i4 {REAL}",
        tolerance=0,
    ),
    "numpy.array_equal": Row(
        "np.array_equal(v, w)",
        "np.array_equal(v, r)",
        "np.array_equal(A, A)",
        "np.array_equal(A, M)",
        "np.array_equal(v, v * 1)",
        dtypes=f"b1 {NUMBER}",
        tolerance=0,
    ),
    # the keywords of all ufuncs
    "numpy.ufunc": Row(*UFUNC, dtypes=f"i4 {REAL}", tolerance=32),
}
