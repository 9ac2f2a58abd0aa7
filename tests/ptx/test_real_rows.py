"""Each row of floating-point numbers, against exact fractions and the C library."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from porter.ptx.arithmetic.kinds import DTYPES
from porter.ptx.instructions.table import TABLE
from tests.support.exact import directed, nearest
from tests.support.ptx import one

RNG = np.random.default_rng(11)
COUNT = 600
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1.5, 2.0, 0.5, 3.0]


def numbers(kind: str, count: int = COUNT) -> Any:
    """Any bits, numbers of like size, subnormal ones, edges."""
    dtype = DTYPES[kind]
    size = dtype.itemsize
    made = RNG.integers(0, 1 << 8 * size, count, np.uint64).astype(f"u{size}").view(dtype)
    made[: count // 2] = RNG.normal(size=count // 2)
    tiny = RNG.normal(size=count // 8) * float(np.finfo(dtype).smallest_normal)
    made[count // 2 : count // 2 + count // 8] = tiny
    edges = np.array([*EDGES, np.finfo(dtype).max, np.finfo(dtype).smallest_normal], dtype)
    made[RNG.integers(0, count, 60)] = edges[RNG.integers(0, len(edges), 60)]
    return made


def same(found: float, wanted: float) -> bool:
    """The same number, the same sign of zero, or both NaN."""
    if wanted != wanted:
        return found != found
    return found == wanted and math.copysign(1, found) == math.copysign(1, wanted)


def checked(opcode: str, exact: Any, mode: str, *inputs: Any) -> None:
    """Compare a sum or product with fractions; what is not finite with float64's own rules."""
    kind = opcode.rsplit(".", 1)[1]
    (found,) = one(opcode, *inputs)
    for k, given in enumerate(zip(*(i.tolist() for i in inputs), strict=True)):
        plain = exact(*given)
        if all(map(math.isfinite, given)):
            value = exact(*map(Fraction, given))
            if value == 0:
                wanted = plain if plain == 0 else 0.0
                if mode == "rm" and signs_differ(opcode, given):
                    wanted = -0.0
            elif mode == "rn":
                wanted = nearest(value, kind)
            else:
                wanted = directed(value, kind, mode)
        else:
            wanted = special(opcode, given)
        assert same(float(found[k]), wanted), (opcode, given, found[k], wanted)


def signs_differ(opcode: str, given: tuple[float, ...]) -> bool:
    """Whether a sum of nothing has a negative part: downward its zero is negative."""
    if opcode.startswith("mul"):
        return math.copysign(1, given[0]) != math.copysign(1, given[1])
    if opcode.startswith(("fma", "mad")):
        product = math.copysign(1, given[0]) * math.copysign(1, given[1])
        parts = product, math.copysign(1, given[2])
    else:
        parts = math.copysign(1, given[0]), math.copysign(1, given[1])
        parts = (parts[0], -parts[1]) if opcode.startswith("sub") else parts
    return -1 in parts


def special(opcode: str, given: tuple[float, ...]) -> float:
    """What is NaN or infinite, from the sum of the sizes alone."""
    a, b = given[0], given[1]
    if opcode.startswith("add"):
        return a + b
    if opcode.startswith("sub"):
        return a - b
    product = limited(a, b)
    return product + given[2] if opcode.startswith(("fma", "mad")) else product


def limited(a: float, b: float) -> float:
    """A product that is infinite only where a factor is."""
    if math.isfinite(a) and math.isfinite(b):
        return math.copysign(1.0, a) * math.copysign(1.0, b) if a and b else a * b
    return a * b


SUM: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
}  # fmt: skip


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_sums_and_products_are_rounded_once(name: str, mode: str) -> None:
    checked(f"{name}.{mode}.f32", SUM[name], mode, numbers("f32"), numbers("f32"))
    if mode == "rn":
        checked(f"{name}.f64", SUM[name], mode, numbers("f64"), numbers("f64"))


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_fma_is_rounded_once(mode: str) -> None:
    def exact(a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    a, b, c = (numbers("f32") for _ in range(3))
    # sums that cancel, and sums close to halfway between two numbers
    with np.errstate(all="ignore"):
        c[:100] = -(a[:100] * b[:100])
        c[100:160] = a[100:160] * b[100:160] * np.float32(2.0**25)
    checked(f"fma.{mode}.f32", exact, mode, a, b, c)
    checked(f"mad.{mode}.f32", exact, mode, a, b, c) if mode == "rn" else None


def test_fma_of_float32_is_right_where_two_roundings_are_not() -> None:
    # 1 + 2**-24 + 2**-60: rounded to float64 first, it is halfway
    a, b = np.float32(1 + 2.0**-23), np.float32(2.0**-24)
    c = np.float32(1.0)
    many = [np.full(3, x, np.float32) for x in (a, b, c)]
    (found,) = one("fma.rn.f32", *many)
    assert (found == np.float32(nearest(Fraction(float(a)) * Fraction(float(b)) + 1, "f32"))).all()
    two = np.float32(np.float64(a) * np.float64(b) + np.float64(2.0**-60) * 0 + 1.0)
    assert found[0] == two or found[0] == np.nextafter(np.float32(1), np.float32(2))


def test_fma_of_float64_is_exact_at_all_exponents() -> None:
    a, b, c = (numbers("f64", 1200) for _ in range(3))
    with np.errstate(all="ignore"):
        c[:200] = -(a[:200] * b[:200])
        c[200:300] = a[200:300] * b[200:300] * 2.0**54
        a[300:500] *= 2.0 ** RNG.integers(-540, -500, 200)
        b[300:500] *= 2.0 ** RNG.integers(-540, -500, 200)
        c[300:400] = 2.0 ** RNG.integers(-1074, -1000, 100)
        a[500:560], b[500:560] = 2.0**600, RNG.normal(size=60) * 2.0**424
        c[500:560] = -np.finfo("f8").max
    (found,) = one("fma.rn.f64", *(x[:600] for x in (a, b, c)))
    library = ctypes.CDLL(ctypes.util.find_library("m")).fma
    library.restype, library.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    for k, given in enumerate(
        zip(a[:600].tolist(), b[:600].tolist(), c[:600].tolist(), strict=True)
    ):
        assert same(float(found[k]), library(*given)), given
    checked("fma.rn.f64", lambda x, y, z: x * y + z, "rn", *(x[560:] for x in (a, b, c)))
    checked("mad.rn.f64", lambda x, y, z: x * y + z, "rn", *(x[560:] for x in (a, b, c)))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_quotients_and_roots_are_rounded_once(kind: str) -> None:
    a, b = numbers(kind), numbers(kind)
    finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
    (quotient,) = one(f"div.rn.{kind}", a, b)
    (inverse,) = one(f"rcp.rn.{kind}", b)
    (root,) = one(f"sqrt.rn.{kind}", np.abs(a))
    for k in np.flatnonzero(finite):
        x, y = Fraction(float(a[k])), Fraction(float(b[k]))
        if x:
            assert quotient[k] == nearest(x / y, kind)
        assert inverse[k] == nearest(1 / y, kind)
        r = float(root[k])
        near = [np.nextafter(root[k], DTYPES[kind].type(e)) for e in (0, np.inf)]
        low, high = ((Fraction(r) + Fraction(float(n))) / 2 for n in near)
        assert low * low <= abs(x) <= high * high
    (special,) = one(f"div.rn.{kind}", np.array([1, -1, 0, np.inf, 1], DTYPES[kind]),
                     np.array([0, 0, 0, np.inf, -0.0], DTYPES[kind]))  # fmt: skip
    assert str(special.tolist()) == "[inf, -inf, nan, nan, -inf]"


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_extremes_prefer_numbers_and_order_zeros(kind: str) -> None:
    values = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan], DTYPES[kind])
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    (least,), (most,) = one(f"min.{kind}", a, b), one(f"max.{kind}", a, b)
    for x, y, low, high in zip(*(v.tolist() for v in (a, b, least, most)), strict=True):
        known = sorted((v for v in (x, y) if v == v), key=lambda v: (v, math.copysign(1, v)))
        wanted = (known[0], known[-1]) if known else (math.nan, math.nan)
        assert same(low, wanted[0]) and same(high, wanted[1])
    (spread,) = one("max.NaN.f32", np.float32([1, np.nan, 2]), np.float32([np.nan, 1, 3]))
    assert str(spread.tolist()) == "[nan, nan, 3.0]"


def test_signs() -> None:
    a, b = numbers("f64"), numbers("f64")
    (copied,) = one("copysign.f64", a, b)
    (inverted,), (plain,) = one("neg.f64", a), one("abs.f64", a)
    for x, y, c, n, p in zip(*(v.tolist() for v in (a, b, copied, inverted, plain)), strict=True):
        assert same(c, math.copysign(y, x)) and same(n, -x) and same(p, abs(x))
    (copied,) = one("copysign.f32", np.float32([-1, 2]), np.float32([3, -4]))
    (inverted,), (plain,) = one("neg.f32", copied), one("abs.f32", copied)
    assert [copied.tolist(), inverted.tolist(), plain.tolist()] == [[-3, 4], [3, -4], [3, 4]]


def test_flushing_and_saturation() -> None:
    tiny = np.float32([1e-40, -1e-40, 1e-38 * 2])
    (found,) = one("add.ftz.f32", tiny, np.float32([0, -0.0, 0]))
    assert [same(f, w) for f, w in zip(found.tolist(), [0.0, -0.0, float(tiny[2])], strict=True)]
    (found,) = one("mul.ftz.f32", np.float32([1e-20, 1e-20]), np.float32([1e-20, -1e-20]))
    assert same(found[0], 0.0) and same(found[1], -0.0)
    (kept,) = one("mul.f32", np.float32([1e-20]), np.float32([1e-20]))
    assert kept[0] > 0
    given = np.float32([-1, 0.25, 2, np.nan, np.inf])
    (found,) = one("add.sat.f32", given, np.zeros(5, np.float32))
    assert found.tolist() == [0, 0.25, 1, 0, 1]
    (found,) = one("cvt.sat.f32.f32", given)
    assert found.tolist() == [0, 0.25, 1, 0, 1]
    (found,) = one("setp.eq.ftz.f32", tiny, np.zeros(3, np.float32))
    assert found.tolist() == [1, 1, 0]


def test_floats_become_floats() -> None:
    wide = numbers("f64")
    (narrow,), (half,) = one("cvt.rn.f32.f64", wide), one("cvt.rn.f16.f64", wide)
    for mode in ("rz", "rm", "rp"):
        (found,) = one(f"cvt.{mode}.f32.f64", wide)
        for got, value in zip(found.tolist(), wide.tolist(), strict=True):
            if math.isfinite(value) and value:
                assert got == directed(Fraction(value), "f32", mode)
    for got, value in zip(narrow.tolist(), wide.tolist(), strict=True):
        if math.isfinite(value) and value:
            assert got == nearest(Fraction(value), "f32")
    assert (half[np.isfinite(half)] == wide.astype(np.float16)[np.isfinite(half)]).all()
    (again,) = one("cvt.f64.f32", narrow)
    assert np.array_equal(again, narrow.astype("f8"), equal_nan=True)
    (again,) = one("cvt.f32.f16", half)
    assert np.array_equal(again, half.astype("f4"), equal_nan=True)
    for mode, function in (
        ("rni", np.rint),
        ("rzi", np.trunc),
        ("rmi", np.floor),
        ("rpi", np.ceil),
    ):
        for kind, values in (("f32", narrow), ("f64", wide)):
            (found,) = one(f"cvt.{mode}.{kind}.{kind}", values)
            assert np.array_equal(found, function(values), equal_nan=True)


#: what the ISA bounds, the function, the range, the bound, and whether it is relative
APPROXIMATE: list[tuple[str, Any, tuple[float, float], float, bool]] = [
    ("rcp.approx.f32", lambda x: 1 / x, (-100, 100), 2.0**-23, True),
    ("sqrt.approx.f32", math.sqrt, (0, 100), 2.0**-23, True),
    ("rsqrt.approx.f32", lambda x: 1 / math.sqrt(x), (0.01, 100), 2.0**-22.9, True),
    ("sin.approx.f32", math.sin, (-3.1, 3.1), 2.0**-20.5, False),
    ("cos.approx.f32", math.cos, (-3.1, 3.1), 2.0**-20.5, False),
    ("lg2.approx.f32", math.log2, (0.5, 2), 2.0**-22, False),
    ("ex2.approx.f32", lambda x: 2.0**x, (-20, 20), 2.0**-22.5, True),
    ("tanh.approx.f32", math.tanh, (-5, 5), 2.0**-11, True),
    ("rcp.approx.ftz.f64", lambda x: 1 / x, (-100, 100), 2.0**-19, True),
    ("rsqrt.approx.ftz.f64", lambda x: 1 / math.sqrt(x), (0.01, 100), 2.0**-19, True),
]


@pytest.mark.parametrize("given", APPROXIMATE, ids=lambda g: g[0])
def test_approximations_are_within_their_bounds(given: Any) -> None:
    opcode, function, (low, high), bound, relative = given
    kind = opcode.rsplit(".", 1)[1]
    values = RNG.uniform(low, high, 500).astype(DTYPES[kind])
    (found,) = one(opcode, values)
    for got, value in zip(found.tolist(), values.tolist(), strict=True):
        wanted = function(value)
        assert abs(got - wanted) <= bound * (abs(wanted) if relative else 1)
    found_row = TABLE.find(opcode)
    assert found_row is not None and found_row[0].bound
    if kind == "f64":
        assert (found.view(np.uint64) & np.uint64(0xFFFFFFFF) == 0).all()


def test_approximations_at_the_ends() -> None:
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310])
    (found,) = one("rcp.approx.ftz.f64", ends)
    wanted = [np.inf, -np.inf, 0.0, -0.0, np.nan, np.inf, -np.inf]
    assert all(same(f, w) for f, w in zip(found.tolist(), wanted, strict=True))
    single = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan])
    for opcode, wanted in (
        ("ex2.approx.ftz.f32", [1, 1, np.inf, 0, np.nan]),
        ("lg2.approx.ftz.f32", [-np.inf, -np.inf, np.inf, np.nan, np.nan]),
        ("rsqrt.approx.ftz.f32", [np.inf, -np.inf, 0, np.nan, np.nan]),
        ("sqrt.approx.ftz.f32", [0, -0.0, np.inf, np.nan, np.nan]),
        ("sin.approx.ftz.f32", [0, -0.0, np.nan, np.nan, np.nan]),
    ):
        (found,) = one(opcode, single)
        assert all(same(f, w) for f, w in zip(found.tolist(), wanted, strict=True)), opcode


def test_quotients_that_are_approximate() -> None:
    a, b = np.float32([1, 7, 1e-30]), np.float32([3, -2, 1e5])
    for opcode in ("div.approx.f32", "div.full.ftz.f32"):
        (found,) = one(opcode, a, b)
        np.testing.assert_allclose(found, a / b, rtol=2**-22)


def test_properties() -> None:
    values = np.array([0, 1, np.inf, np.nan, 1e-310])
    wanted = {
        "finite": [1, 1, 0, 0, 1], "infinite": [0, 0, 1, 0, 0], "number": [1, 1, 1, 0, 1],
        "notanumber": [0, 0, 0, 1, 0], "normal": [0, 1, 0, 0, 0], "subnormal": [0, 0, 0, 0, 1],
    }  # fmt: skip
    for name, holds in wanted.items():
        (found,) = one(f"testp.{name}.f64", values)
        assert found.tolist() == holds, name
