"""Numbers beside arrays: every call is as NumPy's or refused, and so many are as NumPy's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from porter import ir
from tests.convert.numbers_child import difference, modules, outcome, outcomes
from tests.convert.test_promotion import converted
from tests.support.modules import loaded
from tests.support.shell import Shell

#: of 160 calls with an array and a number, how many are served at least
TWO = {
    "return x * y + x": 118,
    "return np.maximum(x, y)": 118,
    "return x < y": 156,
    "return x / y": 156,
    "return x // y": 102,
    "return x % y": 108,
    "return np.where(x > 0, x, y)": 97,
    "return x * y * 0.5": 108,
    "return np.clip(x, 1, y)": 97,
    "return x ** y": 91,
    "return np.sqrt(x) * y": 70,
    # Python or NumPy computes something of the number first
    "return (y + 1) * x": 93,
    "return -y * x": 77,
    "return np.abs(y) * x": 95,
    "return np.sin(y) * x": 74,
    "t = y * 2\n    return x + t": 69,
    "return x * np.asarray(y)": 97,
    "return x * np.zeros_like(y) + y": 28,
    # its dtype is not that of the array
    "return np.where(x > 0, y, 0)": 112,
    "return (x > 2) * y": 112,
    "return (x == y) | (y > 2)": 156,
    # stored into
    "x += y": 47,
    "x[x < y] = 0": 49,
    "x *= (y + 1)": 26,
    "x[:] = x * np.cos(y)": 40,
    "x[:] = np.maximum(x, y)": 49,
    "x[:] = x * np.asarray(y)": 28,
    "x += y\n    return x * 2": 73,
}
#: and of 400 with a third argument
THREE = {
    "return np.clip(x, y, z)": 258,
    "return x * y + z": 210,
    "return x * (y > z)": 382,
    "return x + np.maximum(y, z)": 192,
    "x += y * z": 79,
    "x[:] = x * y + z": 183,
    # with a number for `x`, what is made of `y` or `z` is Python's
    "return (x > 0) * z + y": 40,
    "return ((x > z) * y) * z": 26,
}


@pytest.mark.parametrize(("parameters", "least"), [("x, y", TWO), ("x, y, z", THREE)])
def test_they_are_as_numpys_or_refused(parameters: str, least: dict[str, int]) -> None:
    found = outcomes(parameters, [*least])
    assert {b: wrong for b, (_, wrong) in found.items() if wrong} == {}
    assert {b: (counts, least[b]) for b, (counts, _) in found.items()
            if counts["equal"] < least[b]} == {}  # fmt: skip


def test_compiled_loops_take_them(tmp_path: Path) -> None:
    bodies = ["return x * y + x", "return np.maximum(x, y)", "x += y", "return (y + 1) * x"]
    _, made = modules(tmp_path, "x, y", bodies)
    x = np.array([1, -2, 100], np.int8)
    found = made.f0(x, 3)
    assert found.dtype == np.int8 and found.tolist() == (x * 3 + x).tolist()
    assert made.f1(x, True).tolist() == [1, 1, 100]
    single = np.random.default_rng(0).normal(size=200).astype(np.float32)
    expected = single + 0.1
    made.f2(single, 0.1)
    assert single.tolist() == expected.tolist()
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        made.f0(x, 300)
    with pytest.raises(TypeError, match="give them one dtype"):
        made.f3(x, 127)


#: what Python computes of integers first, and up to which float32 does
LARGE = {
    "return (y - 16777216) * x + z": 2**24,
    "return (y * y - z) * x": 2**12,
    "return x * (y // z)": 2**24,
    "return np.where(y == z, x, -x)": 2**24,
    "t = y * z\n    x *= t - y": 2**12,
    # near a small constant nothing is lost
    "return (y + 1) * x + z": 2**200,
    "return (1 - 2 * y) * x + z": 2**200,
    "return x * (y * z)": 2**200,
}


def test_large_integers_beside_float32_are_as_pythons_or_refused(tmp_path: Path) -> None:
    original, made = modules(tmp_path, "x, y, z", [*LARGE])
    x = np.random.default_rng(0).normal(size=7).astype(np.float32)
    pairs = [(16777217, 16777216), (5001, 25010000), (2**24, 3), (40, 7), (-(2**25) - 1, 2**25)]
    for k, most in enumerate(LARGE.values()):
        for y, z in pairs:
            expected = outcome(getattr(original, f"f{k}"), [np.copy(x), y, z])
            found = outcome(getattr(made, f"f{k}"), [np.copy(x), y, z])
            if isinstance(found, TypeError):
                assert max(abs(y), abs(z)) > most
                assert re.match(r"[yz] is -?\d+, of which Python computes more", str(found))
                continue
            for a, b in zip(expected, found, strict=True):
                assert difference(a, b, 1e-6) == "", ([*LARGE][k], y, z)


def test_an_integer_as_float32_is_taken(tmp_path: Path) -> None:
    _, made = modules(tmp_path, "x, y", ["return (y - 16777216) * x"])
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match=r"y is 16777219, .*: pass np.float32\(y\), or run"):
        made.f0(x, 16777219)
    assert made.f0(x, np.float32(16777219)).tolist() == [4.0, 4.0, 4.0]


def test_beside_float32_and_float64_a_number_is_a_float64(tmp_path: Path) -> None:
    original, made = modules(tmp_path, "x, y, z", ["return x + y * z", "y += x * z"])
    single, double = np.arange(1, 4, dtype=np.float32), np.arange(4, 7.0)
    for name in ("f0", "f1"):
        expected = outcome(getattr(original, name), [single, np.copy(double), 0.1])
        found = outcome(getattr(made, name), [single, np.copy(double), 0.1])
        near = 1e-15 if name == "f0" else 1e-7  # NumPy has the product in float32
        assert all(difference(a, b, near) == "" for a, b in zip(expected, found, strict=True))


MASKED = """def zero_below(x, t):
    x[x < t] = 0
"""


def test_a_number_goes_to_the_form_that_has_kernels_for_it(shell: Shell) -> None:
    shell.write("a.py", MASKED)
    assert shell.convert("a.py", "--target", "loops", "-o", "b.py") == 0
    assert (
        'if _rank(t) == 0 and (_kind(x) not in "biu" or _kind(t) not in "biu"):'
        in (shell.folder / "b.py").read_text()
    )
    made = loaded(shell.folder / "b.py")
    for dtype, t in (("i4", 3), ("i8", np.array(3)), ("i1", np.int8(3)), ("i8", 2.5), ("f4", 2)):
        x = np.arange(6).astype(dtype)
        made.zero_below(x, t)
        assert x.tolist() == [0, 0, 0, 3, 4, 5] or (t == 2 and x.tolist() == [0, 0, 2, 3, 4, 5])
    # NumPy's int64 is not an int32
    with pytest.raises(TypeError, match="give them one dtype"):
        made.zero_below(np.arange(6, dtype=np.int32), np.int64(3))


@pytest.mark.parametrize("made", ["np.asarray(s)", "np.copy(s)", "np.atleast_1d(s)"])
def test_an_array_of_a_number_is_a_float64(made: str) -> None:
    program = converted(f"return x * {made}", "float32[:], float64", "x, s").program
    dtypes = [s.dtype.name for s in program.body if isinstance(s, ir.Def)]
    assert dtypes == ["float64"]


def test_a_number_itself_is_as_the_array() -> None:
    program = converted("return x * s", "float32[:], float64", "x, s").program
    assert [s.dtype.name for s in program.body if isinstance(s, ir.Def)] == ["float32"]
