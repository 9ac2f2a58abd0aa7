"""Arguments of every dtype together: each call is as NumPy's or refused, and so many are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.convert.served.siblings import NARROW
from porter.dtypes.conversions import Conversions, lone_dtypes
from tests.convert.dtypes_child import outcomes
from tests.end_to_end.ranks import converted

ONE, TWO = "float64[:]", "float64[:], float64[:]"
COMPLEX = "complex128[:], complex128[:]"
#: signatures, bodies, and how many calls are equal to NumPy's at least
CASES = {
    # integers of several widths become the widest
    "return x * y // 3": (TWO, 86),
    "return x // y": (TWO, 77),
    # narrow ones beside float64, also where they are stored into
    "return np.sin(x) * y": (TWO, 59),
    "x[:] = 0.5 * x - y": (TWO, 86),
    # one array of integers beside float64, where others of them are kept beside it
    "x[:] = x + y * z": (f"{TWO}, float64[:]", 1028),
    # the text for int64 serves int32
    "return np.floor(x) * 3 + np.rint(x), np.arctan2(x, x * x)": (ONE, 4),
    # forms for float64 beside one for float32, and those that give an argument back
    "return np.clip(x, np.finfo(x.dtype).eps, 1)": ("float32[:]", 2),
    "return x * 2 if x.dtype == np.float32 else x": ("float32[:]", 7),
    # a number stays what it is
    "x *= np.exp(y)": (TWO, 102),
    # Python's numbers beside arrays of the widest dtype, or of another kind
    "return np.angle(-np.ones_like(x) + (x - y) * y)": (COMPLEX, 34),
    "return x * np.conj(y)": (COMPLEX, 75),
    # what is given back decides no dtype, and Python's integers wrap around beside integers
    "return x * y / (1.0 - z)": (f"{TWO}, float64[:]", 907),
    # beside float32, Python's integers are no int64, nor is what is computed of them alone
    "return x * y": ("float64[:], int64[:]", 50),
    "return z * (x * y)": ("int64[:], int64[:], float64[:]", 127),
    "return x * y + z": ("float64[:], int64[:], float64[:]", 274),
    # what float32 rounds is read again: from an argument, from an array of the function, at once
    "x[:] = 0.5 * x - y\n    return y + x": (TWO, 80),
    "t = np.zeros_like(x)\n    t[:] = x + y\n    return t - y": (TWO, 62),
    "return (x + y).astype(x.dtype) - y": (TWO, 58),
}


@pytest.mark.parametrize("body", CASES)
def test_they_are_as_numpys_or_refused(body: str) -> None:
    signature, least = CASES[body]
    names = ", ".join("xyz"[: signature.count("[")])
    equal, _, wrong = outcomes(signature, f"def f({names}):\n    {body}\n")
    assert wrong == []
    assert equal >= least


def _made(body: str, signature: str) -> Any:
    names = ", ".join("xyz"[: signature.count("[")])
    return converted(f"import numpy as np\n\n\ndef f({names}):\n    {body}\n", "f", signature)


def test_a_form_that_gives_its_argument_back_has_no_kernel() -> None:
    made = _made("return x * 2 if x.dtype == np.float32 else x", "float32[:]")
    assert [bool(v.kernels) for v in made.variants] == [True, False, False]
    alone = _made("return x * 2", "float64[:]")
    assert not alone.variants or all(v.kernels for v in alone.variants)


def test_integers_that_meet_narrow_first_are_not_widened() -> None:
    # of int8 and int64, NumPy adds the former to itself in int8
    groups = {
        body: [g for v in _made(f"return {body}", TWO).variants for g in v.conversions.wider]
        for body in ("x // y", "(x + x) * np.floor(y)")
    }
    assert groups == {"x // y": [("x", "y")], "(x + x) * np.floor(y)": []}


def test_narrow_integers_are_taken_together_or_not_at_all() -> None:
    found = _made("return np.sin(x) * y", TWO)
    narrow = {s.dtype for v in found.variants for s in v.siblings if s.narrow}
    assert narrow in (set(), {*NARROW})


def test_refusals_that_no_call_reaches_are_not_written() -> None:
    # where the dispatcher gives Python's integers to a form for floats, the others do not ask
    body = "return (x if np.issubdtype(y.dtype, np.integer) else -x) * y"
    texts = {
        signature: "".join(p for t in _made(body, signature).texts for p in t.parts)
        for signature in ("float64[:], int64[:]", TWO)
    }
    assert ["_has_single" in t for t in texts.values()] == [True, False]


@pytest.mark.parametrize(
    ("body", "rounded"),
    [
        ("x[:] = 0.5 * x - y", ()),
        ("x *= 0.1\n    return x + y", ()),  # of float32 alone: kernels are more accurate
        ("x += y\n    return x + y", (("x",),)),
        ("for _ in range(3):\n        x[:] = 0.5 * x - y", (("x",),)),
        ("return (x * y).astype(x.dtype) - y", (("x",),)),
        ("z[:] = x * y + z\n    return z + y + x", (("z",), ("x", "z"), ("y", "z"))),
    ],
)
def test_which_arrays_are_not_to_be_of_float32(body: str, rounded: Any) -> None:
    made = _made(body, ", ".join(["float64[:]"] * (3 if "z" in body else 2)))
    found = (made.variants or (made,))[0].conversions
    assert {frozenset(names) for names in found.rounded} == {*map(frozenset, rounded)}
    assert found.mixed and Conversions.parse(found.lines()) == found


@pytest.mark.parametrize("kinds", ["w", "wi", "wiu", "wiub", "i", "iub"])
def test_a_header_says_which_integers_one_array_may_be_of(kinds: str) -> None:
    known = Conversions(("x",), beside=True, lone=(("y", kinds),), wider=(("j", "k"),))
    assert Conversions.parse(known.lines()) == known
    assert ("int64" in lone_dtypes(kinds)) == kinds.startswith("w")
    assert all(np.dtype(d).kind in kinds + "i" for d in lone_dtypes(kinds))
