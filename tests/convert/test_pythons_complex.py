"""Python's complex and a float64 of NumPy's: `1j * s` is Python's number, and `s * 1j` is not."""

from __future__ import annotations

import pytest

from tests.convert.dtypes_child import outcomes

TWO = "float64[:], float32[:]"


@pytest.mark.parametrize(
    ("body", "equal"),
    [
        # complex64 for a y of float32: the number does not promote it
        ("return y * (1j * x.sum())", 22),
        ("return y + 1j * x[0]", 43),
        ("return y * (x.sum() * 1j)", 38),
        ("return y * (1j / x.max())", 22),
        ("c = 2j\n    c *= x.mean()\n    return y * c", 22),
        ("s = 0j\n    for i in range(x.shape[0]):\n        s += x[i]\n    return y * s", 43),
        ("return 1j * np.sqrt(2.0) * y", 7),
        ("return np.exp(-1j * np.float64(0.5)) * y", 91),
        ("return 1j * x.sum()", 28),
    ],
)
def test_what_the_function_makes(body: str, equal: int) -> None:
    found = outcomes(TWO, f"def f(x, y):\n    {body}\n")
    assert not found[2], found[2]
    assert found[0] >= equal, found[:2]


@pytest.mark.parametrize(
    ("body", "equal"),
    [
        ("return y + 1j * x", 120),
        ("return y * (1j * (x + 1))", 54),
        ("return y + x * 1j", 120),
        ("return np.abs(y + 1j * x)", 120),
    ],
)
def test_in_place_of_an_array(body: str, equal: int) -> None:
    found = outcomes("float64[:], float64[:]", f"def f(y, x):\n    {body}\n")
    assert not found[2], found[2]
    assert found[0] >= equal, found[:2]


@pytest.mark.parametrize(
    ("body", "signature", "equal"),
    [
        # an int16 and a float32 of NumPy's make a float32
        ("return y + 1j * s", "float32[:], float64", 47),
        ("return y * s", "int64[:], float64", 6),
        ("return np.where(y > s, s, y)", "int64[:], float64", 6),
    ],
)
def test_a_float32_beside_narrow_integers(body: str, signature: str, equal: int) -> None:
    found = outcomes(signature, f"def f(y, s):\n    {body}\n")
    assert not found[2], found[2]
    assert found[0] >= equal, found[:2]
