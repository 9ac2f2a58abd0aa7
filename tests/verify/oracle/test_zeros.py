"""Which of equal zeros a maximum is: NumPy leaves it open, and verification knows that."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.config import Config
from porter.convert.files import convert_file
from porter.options import ConvertOptions
from porter.source.files import read
from porter.verify.checks import equal_zeros
from porter.verify.oracle import original, rounding, zeros
from porter.verify.oracle.compare import Outcome
from porter.verify.oracle.zeros import Zeros
from porter.verify.run import verify_module

Z = 0.0
X = np.array([[Z, -Z, -1.0], [-Z, -1.0, -2.0], [1.0, Z, -Z], [-Z, -3.0, Z]])
#: calls of x, the elements (by their flat position) whose zero is open, and a number of others
OPEN = [
    ("x.max(axis=1)", (0, 3)),
    ("np.max(x, 1)", (0, 3)),
    ("np.amax(a=x, axis=1)", (0, 3)),
    ("np.maximum.reduce(x, axis=1)", (0, 3)),
    ("np.nanmax(x, axis=1)", (0, 3)),
    ("(-x).min(1)", (0, 3)),
    ("x[:2].max(1, initial=0.0)", (0, 1)),
    ("x[3].max()", (0,)),
    ("np.maximum(x[1], 0)", (0,)),
    ("np.fmax(x[1], x[2])", ()),
    ("np.minimum(x[0], x[3])", (0,)),
    ("np.minimum(x[0], -x[0])", (0, 1)),
    ("x[1].clip(0.0, 1.0)", (0,)),
    ("np.clip(x[1], -5.0, 0.0)", (0,)),
    ("np.maximum.accumulate(x[0])", (1, 2)),
    ("np.maximum(x[1], 0.0, where=x[1] < -1.5, out=x[1].copy())", ()),
    ("np.maximum(y, 0.0, out=y)", (0,)),
    ("np.abs(x[0])", ()),
    ("max(0.0, x[1, 0])", ()),
    ("np.sum(x[0])", ()),
]


def text(call: str) -> str:
    return f"import numpy as np\ndef f(x):\n    y = x[-3].copy()\n    return {call}\n"


def rough(tmp_path: Path, source: str) -> Any:
    return original.load(tmp_path / "s.py", source, rough=True).function("f")


@pytest.mark.parametrize(("call", "places"), OPEN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_open(tmp_path: Path, call: str, places: tuple[int, ...], dtype: type) -> None:
    function, x = rough(tmp_path, text(call)), X.astype(dtype)
    own = original.load(tmp_path / "s.py", text(call)).function("f")(x)
    made = []
    for choice in (Zeros(), Zeros(1), Zeros(-1), Zeros().other(0)):
        with rounding.exactly(), zeros.chosen(choice):
            made.append(function(x))
        assert zeros.zeros_met() == len(places)
        assert np.array_equal(made[-1], own) and type(made[-1]) is type(own)
    signs = [np.signbit(m).ravel() for m in (own, *made)]
    assert np.array_equal(signs[0], signs[1])
    assert np.flatnonzero(signs[2] != signs[3]).tolist() == list(places)
    assert np.flatnonzero(signs[1] != signs[4]).tolist() == list(places[:1])


def nearest(tmp_path: Path, x: Any, wanted: Any) -> Any:
    """The original's result with the choice that comes nearest to the wanted one."""
    function = rough(tmp_path, "def f(x):\n    return x / x.max(axis=1, keepdims=True)\n")

    def run(choice: Zeros) -> tuple[Outcome, int]:
        with rounding.exactly(), zeros.chosen(choice), np.errstate(all="ignore"):
            return Outcome(result=function(x)), zeros.zeros_met()

    found = equal_zeros.search(run, Outcome(result=wanted), [])
    assert found is not None
    return found[1].result


@np.errstate(all="ignore")
def test_one_choice_explains_all_elements(tmp_path: Path) -> None:
    for a, b in itertools.product((Z, -Z), repeat=2):
        wanted = X / np.array([a, -Z, 1.0, b])[:, None]
        assert np.array_equal(nearest(tmp_path, X, wanted), wanted, equal_nan=True)
    # the maximum of row 1 is one zero alone
    wrong = X / np.array([Z, Z, 1.0, Z])[:, None]
    assert not np.array_equal(nearest(tmp_path, X, wrong), wrong, equal_nan=True)
    # the threads of a row have different zeros
    x = np.array([[Z, -Z, -1.0, -2.0]])
    wrong = x / np.array([[1.0, 1.0, Z, -Z]])
    assert not np.array_equal(nearest(tmp_path, x, wrong), wrong, equal_nan=True)


@pytest.mark.long
def test_a_division_by_a_maximum_is_verified(tmp_path: Path) -> None:
    source = tmp_path / "t.py"
    source.write_text("def scaled(x):\n    return x / x.max(axis=1, keepdims=True)\n")
    options = ConvertOptions((str(source),), verify=False)
    path = tmp_path / "t_cuda.py"
    made = convert_file(read(str(source)), options, Config(), path, lambda _: None)
    assert made.text is not None
    # rows of this case have both zeros for a maximum, and others one alone
    kernel = "largest = row_max(largest, scratch)"
    turned = f"{kernel}\n    largest = largest if largest else -largest"
    for text, right in ((made.text, True), (made.text.replace(kernel, turned), False)):
        (found,) = verify_module(path, text=text, on=("simulator",), seed=3, cases=100, case=53)
        assert found.verified == right, found.mismatch
