"""Which arguments of other dtypes a function accepts: what the program says, and nothing else."""

from __future__ import annotations

import pytest

from porter.convert.function import Converted, convert_function
from porter.dtypes.conversions import Conversions
from porter.source.module import SourceModule

X, XY = "float64[:]", "float64[:], float64[:]"


def converted(body: str, signature: str, parameters: str = "") -> Converted:
    names = parameters or ", ".join("xyz"[: signature.count("[")])
    text = f"import numpy as np\n\ndef f({names}):\n    {body}\n"
    (function,) = SourceModule(text, "f.py").functions
    return convert_function(function, signature or None)


def integers(body: str, signature: str = X) -> str:
    c = converted(body, signature).conversions
    return f"{' '.join(c.names)}: {c.integers.word}" if c.names else ""


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        ("return x * 0.5", "x: integers"),
        ("return x / 3", "x: integers"),
        ("return x - x.mean()", "x: integers"),
        ("return np.where(x > 0, x * 0.5, 0.0)", "x: integers"),
        ("return np.where(x > 2**53 + 1, 1.0, 0.0)", ""),
        # int8 and int16 are float16 and float32 in NumPy's functions
        ("return np.sin(x)", "x: wide"),
        ("return np.sqrt(x ** 2 + 1)", "x: exact(2, 2, 2)"),
        ("return np.exp(x - x.max())", "x: exact(2, 2, 1)"),
        ("return np.exp(np.cumsum(x))", "x: exact(1, 2147483648, 1)+i"),
        ("return np.sqrt((x * x).sum())", "x: exact(1, 2147483648, 2)+i"),
        # the sign of a zero is not seen, an integer is no NaN
        ("return np.where(-x * 2.0 > 0.5, 1.0, 2.0)", "x: exact(1, 1, 1)+i"),
        ("return 1 / (1.5 + (-x) * 0.5)", "x: exact(1, 1, 1)+i"),
        ("return np.cos(-x * 0.5) + 2.0 / x", "x: exact(1, 1, 1)+i"),
        ("return np.exp(-x)", "x: exact(1, 1, 1)"),
        ("return np.polyval([0.5, -1.0], x)", "x: exact(1, 1, 1)+iub"),
        ("return (-x) * 0.5 + (x - x)", ""),
        # narrow integers, as long as NumPy computes them in float64, or they do not wrap before
        ("return (x * x + x) * 0.5", "x: exact(2, 2, 2)+iu"),
        ("return (x - 3) * 0.5", "x: exact(4, 4, 1)+i"),
        ("return np.maximum(x, 1) * 0.5", "x: exact(1, 1, 1)+iub"),
        ("return np.sign(x) * 0.5", "x: wide+iu"),
        # a part of complex numbers
        ("return x + 0.5j", "x: integers"),
        ("return np.exp(-2j * x)", "x: integers"),
        ("return np.abs(np.sqrt(-x) - 0.5)", "x: exact(1, 1, 1)"),
        ("return np.signbit(x)", "x: integers"),
        ("return np.where(np.isnan(x), 0.0, x * 0.5)", "x: integers"),
        ("return np.signbit(-x)", ""),
        # variables of integers
        ("a, b = x\n    return np.array([a * 0.5, b / 3])", "x: integers"),
        ("a, b = x\n    return np.array([a * 0.5, b * 2])", "x: exact(2, 2, 1)+iub"),
        ("a, b = x\n    return np.array([a * 0.5, b * -2])", ""),
        ("a = x[0]\n    for k in range(2):\n        a = a + x[k]\n    return x * 0.5 * a", ""),
        # of integers without a sign they are those
        ("return np.abs(x) * 0.5", "x: exact(1, 1, 1)+iu"),
        # a power of bools is one of int8
        ("return np.exp(0.5 * x**2)", "x: exact(1, 1, 2)+iub"),
        # results of integers
        ("return x + 1", ""),
        ("return x * 2", ""),
        ("return x.max()", ""),
        ("return np.abs(x)", ""),
        ("out = np.zeros_like(x)\n    out[:] = x * 0.5\n    return out", ""),
        ("return x * 0.5, x + 1", ""),
        # not the same in floats, or only nearly
        ("return (x // 2) * 0.5", ""),
        ("return (x % 3) * 0.5", ""),
        ("return 1.0 / (-x)", ""),
        ("return 1.0 / (x * -3)", ""),
        ("x[0] = 0.5\n    return x * 0.5", ""),
        # it is given back as it came
        ("y = x * 0.5\n    return x, y", "x: integers"),
    ],
)
def test_integers(body: str, accepted: str) -> None:
    assert integers(body) == accepted


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        ("return x * 0.5", "x: integers"),
        ("return np.sqrt(x)", "x: wide"),
        # with float64 the constant makes no float32, of which narrow integers have
        ("return x * np.float32(0.5)", "x: wide"),
        ("return x.astype(np.float64) * 0.5", "x: integers"),
        # another text for float64
        ("return np.exp(-2j * x)", ""),
        ("if x.dtype == np.float32:\n        return x * 2.0\n    return x * 0.5", ""),
    ],
)
def test_integers_where_kernels_are_for_float32(body: str, accepted: str) -> None:
    assert integers(body, "float32[:]") == accepted


def test_without_float64_nothing_becomes_float64() -> None:
    made = converted("return x * 0.5", "float32[:]")
    assert made.conversions and not made.leaving_out(["float64[:]"]).conversions


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float32_beside_float64_whichever_was_asked_for(dtype: str) -> None:
    assert converted("return x * y", f"{dtype}[:], {dtype}[:]").conversions.mixed == (("x", "y"),)


@pytest.mark.parametrize(
    ("body", "floats"),
    [
        ("return x * 0.5 + s", False),
        ("return x / s", False),
        ("return x * s", True),
        ("return np.sqrt(x + s)", True),
        ("return np.exp(-0.5 * ((x - s) / s) ** 2)", True),
    ],
)
def test_integers_beside_numbers(body: str, floats: bool) -> None:
    found = converted(body, "float64[:], float64", "x, s").conversions
    assert found.names == ("x",) and found.floats is floats
    assert Conversions.parse(found.lines()) == found


def test_bools_beside_numbers_that_must_be_floats() -> None:
    """With an int8 for `s` NumPy computes float16 of bools; the host takes floats only."""
    body = "return np.exp(-s * x)"
    found = converted(body, "float64[:], float64", "x, s").conversions
    assert found.floats and found.integers.word == "integers"
    # an integer is as good as a float here, and an int8 is not
    body = "return np.sin(2 * np.pi * x / s)"
    found = converted(body, "float64[:], float64", "x, s").conversions
    assert not found.floats and found.integers.word == "wide+iu"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("if k:\n        x = x / np.sqrt(x @ x)\n    return x * s", ("x",)),
        ("if k:\n        x = x / 2\n    return np.sin(x) * y", ("x", "y")),
        ("if not k:\n        return x * 0.5\n    return x / 3", ("x",)),
        ("if k:\n        x = x * 2\n    return x / np.sum(x) + x * -2", ()),
        ("if k:\n        return x / 3\n    return x * 2", ()),
    ],
)
def test_a_flag_that_decides_a_dtype(body: str, names: tuple[str, ...]) -> None:
    signature = f"{XY}, boolean, float64" if "y" in body else f"{X}, boolean, float64"
    parameters = "x, y, k=False, s=0.5" if "y" in body else "x, k=False, s=0.5"
    assert converted(body, signature, parameters).conversions.names == names


def test_one_of_two() -> None:
    assert integers("return x * 0.5 + y", XY) == "x y: integers"
    assert integers("return np.sqrt(x * 2 + y)", XY) == "x y: exact(3, 3, 1)"
    # the result has the dtype of x
    body = "out = np.zeros(x.shape, dtype=x.dtype)\n    out[:] = x * np.sqrt(y)\n    return out"
    assert integers(body, XY) == "y: wide"


def rule(made: Converted) -> str:
    floats = (made.variants or (made,))[0]
    return "".join(floats.text.parts).partition('rule="')[2].partition('"')[0]


def test_the_check_of_arrays_of_which_one_must_be_of_floats() -> None:
    made = converted("return x % y", XY)
    assert rule(made) == "x y beside : integers mixed"
    assert {"_kept", "_all_integers"} <= made.variants[0].text.needs.helpers
    made = converted("return x * 0.5 + y", XY)
    assert rule(made) == "integers mixed" and "_kept" not in made.text.needs.helpers


@pytest.mark.parametrize(
    ("body", "lone"),
    [
        # NumPy computes the cosine of an int8 in float16
        ("return x * np.cos(y)", (("x", "iub"),)),
        ("return np.cos(x) * y", (("y", "iub"),)),
        ("return np.log(x / y) * np.sqrt(y)", (("x", "iub"),)),
        # two of them wrap around, one beside a float64 does not
        ("return np.sin(x - y)", (("x", "iub"), ("y", "iub"))),
        # `-x` of one that is unsigned wraps around
        ("return np.exp(-x) + np.sqrt(x * y)", ()),
        # the zero of `-x` is -0.0 in floats
        ("return np.sqrt(-x * y + y)", (("y", "iub"),)),
        # all kinds are converted anyway, or integers are kept
        ("return x * 0.5 + y", ()),
        ("return x % y", ()),
    ],
)
def test_a_narrow_array_beside_float64(body: str, lone: tuple[tuple[str, str], ...]) -> None:
    made = converted(body, XY)
    assert made.conversions.lone == lone
    words = " ".join(":".join(one) for one in lone)
    assert (f', lone="{words}")' in "".join(made.text.parts)) == bool(lone)


@pytest.mark.parametrize(
    ("body", "names", "some"),
    [
        ("return x % y", ("x", "y"), True),
        ("return np.fmod(x, y) + x // y", ("x", "y"), True),
        ("return x**y", ("x", "y"), True),
        # what is computed of `x` alone is computed in integers
        ("return x % y, x % 3", ("y",), False),
        ("return x % y, x // 2 * 0.5", ("y",), False),
        ("return x * 0.5 + y", ("x", "y"), False),
    ],
)
def test_integers_beside_one_array_of_floats(body: str, names: tuple[str, ...], some: bool) -> None:
    found = converted(body, XY).conversions
    assert (found.names, found.some) == (names, some)
    assert Conversions.parse(found.lines()) == found


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        ("return x * y", True),
        ("return np.sqrt(x * x) + y", True),
        ("return np.where(x > y, x, y)", True),
        # a comparison of what NumPy computes in float32
        ("return np.where(x * x > 2.0, y, x)", False),
        ("return np.floor(x * 0.1) + y", False),
        ("return np.where(x > 0.1, y, x)", False),
        ("return np.where(x > 0.5, y, x)", False),
        # a result of float32
        ("return x * 2, x * y", False),
        # the host casts what is stored
        ("x += y", True),
        # 0.1 is a little more accurate, and 1e-50 is zero in float32
        ("return 0.1 * x + y", True),
        ("return x / (x + 1e-50) + y", False),
        ("return 1e50 * x * y", False),
    ],
)
def test_float32_beside_float64(body: str, accepted: bool) -> None:
    assert bool(converted(body, XY).conversions.mixed) is accepted


def test_complex_arrays_and_integers_of_the_signature_are_not_converted() -> None:
    assert not converted("return x * 0.5", "complex128[:]").conversions
    assert not converted("return x * 0.5", "int64[:]").conversions


@pytest.mark.parametrize("body", ["return x * 0.5", "return np.sqrt(x**2 + y**2 + 1)"])
def test_the_header_says_it(body: str) -> None:
    found = converted(body, X if "y" not in body else XY).conversions
    assert found and Conversions.parse(found.lines()) == found


@pytest.mark.parametrize(
    ("body", "default", "type_"),
    [
        ("return x * k", "0", "float64"),
        ("return x * np.cos(np.radians(k)) + (k + 1)", "0", "float64"),
        ("return x[k:] * 0.5", "1", "int64"),
        ("return x * k, k + 1", "0", "int64"),
        ("return x + np.full(3, k)", "0", "int64"),
        ("for _ in range(k):\n        x = x * 0.5\n    return x", "2", "int64"),
        ("return x * abs(k)", "2", "float64"),
    ],
)
def test_a_default_that_is_an_integer(body: str, default: str, type_: str) -> None:
    c = converted(body, "", f"x, k={default}")
    assert c.types[1].dtype.name == type_


@pytest.mark.parametrize(
    ("body", "signature", "served", "rule"),
    [
        ("return np.roll(x, 1)", X, "int8 uint8 int32 int64 float32 float64", ""),
        (
            "return np.cross(x, y)",
            XY,
            "int8 uint8 int32 int64 float32 float64",
            "x y beside int64,int32,uint8,int8: integers mixed",
        ),
        # x alone decides the dtype of the result
        (
            "m = x > y[0]\n    return x[m]",
            XY,
            "int8 uint8 int32 int64 float32 float64",
            "y beside int64,int32,uint8,int8: integers",
        ),
        # numbers that are spelled as those of floats are; what is stored wraps around there
        ("return x * 2", X, "int8 uint8 int32 int64 float32 float64", ""),
        ("return x * x + 1", X, "int8 uint8 int32 int64 float32 float64", ""),
        ("return np.maximum(0, x)", X, "int8 uint8 int32 int64 float32 float64", ""),
        ("return x**3 - x * 2", X, "int8 uint8 int32 int64 float32 float64", ""),
        ("return -x", X, "int8 uint8 int32 int64 float32 float64", ""),
        ("return -x * 2 - (-x)", X, "int8 int32 int64 float32 float64", ""),
        ("a = x + 1\n    return a * a", X, "int64 float32 float64", ""),
        # a result of floats, whichever they are; another text; a number that may be a float
        ("return x * 0.5", X, "float32 float64", ""),
        ("return x * 2 + 0.5", X, "float32 float64", ""),
        ("return x[x > s]", f"{X}, float64", "float32 float64", ""),
    ],
)
def test_kernels_for_floats_that_serve_integers(
    body: str, signature: str, served: str, rule: str
) -> None:
    c = converted(body, signature, "x, s" if "s]" in body else "")
    own = {d for _, d in c.own[:1]} | {s.dtype for s in c.siblings if "x" in s.names}
    assert own == set(served.split())
    if rule:
        assert f'rule="{rule}"' in "".join(c.text.parts)
        assert Conversions.parse(c.conversions.lines()) == c.conversions


@pytest.mark.parametrize(
    ("body", "signature", "real"),
    [
        ("return x * s", "int64[:], float64", ("s",)),
        ("return np.sqrt(x) * s", "int64[:], float64", ()),
        ("return x * 0.5 + s", "int64[:], float64", ()),
        ("return x * s", "float64[:], float64", ()),
        ("return x + s[0]", "int64[:], UniTuple(float64, 2)", ("s_0", "s_1")),
    ],
)
def test_a_number_beside_integers_must_be_a_float(
    body: str, signature: str, real: tuple[str, ...]
) -> None:
    c = converted(body, signature, "x, s")
    assert c.reals == real
    text = "".join(c.text.parts)
    # integers are refused, or have a form of their own
    formed = bool(real) and 'np.asarray(s).dtype.kind in "biu":' in text
    assert formed or text.count('real="float"') == len(real)


@pytest.mark.parametrize(("passed", "real"), [("s", ()), ("s * 2", ("s",))])
def test_a_check_is_given_a_number_as_it_was_passed(passed: str, real: tuple[str, ...]) -> None:
    """What is computed of it for the text of an exception has the type that Python gives it."""
    source = f"""import numpy as np

def check(s):
    if s > 9.0:
        raise ValueError(f"{{[s]}} is too large")

def f(x, s):
    check({passed})
    return np.sqrt(x) * s
"""
    function = SourceModule(source, "f.py").by_name["f"]
    assert convert_function(function, "int64[:], float64").reals == real


@pytest.mark.parametrize(("dtype", "must"), [("float64", True), ("complex128", False)])
def test_a_complex_number_beside_real_arrays_is_no_float(dtype: str, must: bool) -> None:
    """With a float NumPy computes floats there; beside complex arrays it makes no difference."""
    source = "def f(x, a):\n    return x[0] + a / x[1]\n"
    made = convert_function(SourceModule(source, "f.py").functions[0], f"{dtype}[:], complex128")
    assert ('real="complex"' in "".join(made.text.parts)) is must
