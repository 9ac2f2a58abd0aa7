"""Numbers that decide a dtype: of which an array has the dtype, or that promote it."""

from __future__ import annotations

import pytest

from tests.convert.dtypes_child import outcomes
from tests.convert.test_complexes import converted


@pytest.mark.parametrize(
    ("body", "signature", "equal"),
    [
        # the array has the dtype of the number
        ("return np.where(x > 2, s, 0)", "float64[:], float64", 26),
        ("return np.full(3, s) + x", "float64[:], float64", 20),
        ("return np.where(x > 2, s, 0)", "int64[:], int64", 6),
        ("return np.full(3, s) + x", "int64[:], int64", 6),
        ("return np.abs(s) * (x > 2)", "int64[:], int64", 6),
        ("return (x > 2) * s", "float64[:], float64", 26),
        # NumPy's integer makes a float64 of its own
        ("return x * (s / 2)", "float64[:], int64", 25),
        # and its float32 a float32
        ("return x * np.sqrt(s)", "float64[:], float64", 20),
        ("return np.full(3, s) + x", "float64[:], int64", 5),
    ],
)
def test_every_call_is_as_numpys_or_refused(body: str, signature: str, equal: int) -> None:
    found = outcomes(signature, f"def f(x, s):\n    {body}\n")
    assert not found[2], found[2]
    assert found[0] >= equal, found[:2]


@pytest.mark.parametrize(
    ("body", "signature", "other"),
    [
        ("return (z > 2) * s", "float64[:], float64", "float64[:], int64"),
        ("return z * s", "int32[:], float64", "int32[:], int64"),
        # beside floats an integer is as good as a float
        ("return z * s", "float64[:], float64", ""),
    ],
)
def test_a_form_for_integers(body: str, signature: str, other: str) -> None:
    made = converted(body, signature, "z, s")
    found = [v.signature for v in made.variants]
    assert (other in found) if other else not any("int64" in s.split(", ")[1:] for s in found)
