"""Where rounding alone decides whether there is a number, and where it does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.verify.inputs.arguments import Sums
from porter.verify.oracle import compare, original, rounding
from porter.verify.oracle.compare import Outcome

#: what is left of `a` beside itself is rounding, and so is its direction
LEFT = """
import numpy as np


def direction(a, b):
    q = a / np.sqrt(np.sum(a * a))
    left = a - q * np.sum(q * a)
    other = b - q * np.sum(q * b)
    return left / np.sqrt(np.sum(left * left)), other / np.sqrt(np.sum(other * other))
"""
SUMS = Sums(9, 2.0**-52)


def runs(folder: Path, text: str, *args: object) -> tuple[list[Outcome], Outcome]:
    """What the original does, with random roundings too, and where nothing is left."""
    name = text.split("def ")[1].split("(")[0]
    plain = original.load(folder / "s.py", text).function(name)
    rough = original.load(folder / "s.py", text, rough=True).function(name)
    rounding.reset(0)
    with np.errstate(all="ignore"):
        outcomes = [Outcome(result=f(*args)) for f in (plain, rough, rough)]
        with rounding.cancelling():
            cancelled = Outcome(result=rough(*args))
    return outcomes, cancelled


def found(outcomes: list[Outcome], actual: object, cancelled: Outcome | None) -> str:
    """What is wrong with a result."""
    expected, *others = outcomes
    difference = compare.values(
        expected, Outcome(result=actual), [], others, SUMS, cancelled=cancelled
    )
    return difference.what if difference else ""


def test_a_number_that_rounding_made_may_be_missing(tmp_path: Path) -> None:
    a, b = np.random.default_rng(1).uniform(0.1, 3, (2, 9))
    outcomes, cancelled = runs(tmp_path, LEFT, a, b)
    left, other = outcomes[0].result
    assert np.isfinite(left).all() and np.isnan(cancelled.result[0]).all()
    assert np.allclose(cancelled.result[1], other)
    missing = np.full(9, np.nan)
    assert found(outcomes, (missing, other), None) == "nan"
    assert found(outcomes, (missing, other), cancelled) == ""
    # what is no rounding is compared as ever
    for k in range(9):
        for number, what in ((np.nan, "nan"), (0.5, "value")):
            wrong = np.where(np.arange(9) == k, number, other)
            assert found(outcomes, (missing, wrong), cancelled) == what


def test_a_number_that_other_runs_have_too_may_not(tmp_path: Path) -> None:
    outcomes, cancelled = runs(tmp_path, LEFT, *np.random.default_rng(1).uniform(0.1, 3, (2, 9)))
    steady = [Outcome(result=outcomes[0].result) for _ in outcomes]
    missing = np.full(9, np.nan), outcomes[0].result[1]
    assert found(steady, missing, cancelled) == "nan"


def test_an_infinity_of_the_other_sign_is_wrong() -> None:
    infinite = [Outcome(result=np.array([np.inf, 1.0])) for _ in range(3)]
    assert found(infinite, np.array([-np.inf, 1.0]), infinite[0]) == "nan"


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_nothing_is_left_where_numbers_cancel(tmp_path: Path, dtype: str) -> None:
    text = (
        "def left(x, y):\n    s = x * y\n    s -= x * (y + y / 3.0) * 0.75\n"
        "    return s, x - x * 0.5, x[0] - x[0] * (1.0 / 3.0) * 3.0, 3 - 3.0, 7 - 5\n"
    )
    x = np.linspace(0.1, 2.3, 7).astype(dtype)
    _, cancelled = runs(tmp_path, text, x, x[::-1].copy())
    rest, half, one, zero, two = cancelled.result
    assert not rest.any() and rest.dtype == dtype and one == 0 and one.dtype == dtype
    assert np.array_equal(half, x - x * type(x[0])(0.5))
    assert (zero, two) == (0, 2) and type(zero) is float and type(two) is int


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variances_of_equal_elements_are_the_rounding_of_a_mean(tmp_path: Path, dtype: str) -> None:
    text = (
        "import numpy as np\n\n\n"
        "def spreads(x):\n    return (x.var(ddof=1), np.std(x, 0), x.std(axis=1, keepdims=True),\n"
        "        np.nanvar(x[:, :2], axis=0), np.mean([3, 5]))\n"
    )
    x = np.full((7, 3), 0.1, dtype)
    x[:, 2] = np.arange(7)
    (plain, *_), cancelled = runs(tmp_path, text, x)
    all_of_it, columns, rows, none, mean = cancelled.result
    assert plain.result[1][:2].all() and plain.result[3].all()
    assert not columns[:2].any() and not none.any() and none.dtype == dtype
    # those of other elements, and shapes, stay
    assert all_of_it == plain.result[0] and columns[2] == plain.result[1][2] and mean == 4
    assert np.array_equal(rows, plain.result[2]) and rows.shape == (7, 1)


def test_a_quotient_by_a_rounding_of_a_mean_may_be_missing(tmp_path: Path) -> None:
    text = "def of(x):\n    return x.max() / x.std(ddof=1)\n"
    x = np.full(7, np.float32(-0.1))
    outcomes, cancelled = runs(tmp_path, text, x)
    moved = Outcome(result=np.float32(123))
    assert np.isfinite(outcomes[0].result) and np.isinf(cancelled.result)
    assert found([*outcomes, moved], np.float32(-np.inf), cancelled) == ""
    assert found(outcomes, np.float32(-np.inf), cancelled) == "nan"
