"""Loops that carry values: what they have accumulated so far is a scan."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.diagnostics import Refusal
from porter.schedule.printer import plan_text
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong, programs_of

LOOP = """import numpy as np


def f(x, on, v):
    out = np.zeros(len(x))
    n = 0
    for i in range(len(x)):
        STEP
        out[i] = v + n
    return out
"""


def plan_of(step: str) -> str:
    return plan_text(
        plan(array_program(LOOP.replace("STEP", step), "float64[:], bool[:], float64"))
    )


@pytest.mark.parametrize(
    "step",
    [
        "v = 0.0 if on[i] else v + x[i]",
        "v = (0.0 if on[i] else v) + x[i]",
        "if on[i]:\n            v = x[i]\n        else:\n            v -= 2 * x[i]",
        "n = n + 1 if on[i] else 0",
        "v = 0.0 if on[i] else 0.5 * v + x[i]",
        "v = 0.0 if on[i] else x[i] * v",
    ],
)
def test_steps_that_begin_again_are_scans(step: str) -> None:
    assert "a recurrence by blocks" in plan_of(step)


@pytest.mark.parametrize(
    "step",
    [
        "n = 2 * n + 1 if on[i] else 0",  # Python's integers have no end
        "v = v + x[i] if v > 0 else 0.0",
    ],
)
def test_other_steps_with_a_choice_are_refused(step: str) -> None:
    with pytest.raises(Refusal, match="PRT904"):
        plan_of(step)


def test_a_product_with_zero_is_no_choice() -> None:
    """NaN stays NaN."""
    text = plan_of("v = v * (0.0 if on[i] else 1.0) + x[i]")
    assert "* (0.0 if on[k_] else 1.0)" in text


@pytest.mark.parametrize(("engine", "count"), programs_of((7, 4), (36, 18)))
def test_random_loops(engine: str, count: int) -> None:
    """NaN and infinities, lines at the borders of tiles, two steps in a turn."""
    assert_none_wrong("carried_child", engine, str(count), "0")
