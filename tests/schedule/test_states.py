"""Machines of few states: results at the borders of blocks, parts and tiles, and what is one."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.diagnostics import Refusal
from porter.schedule.printer import plan_text
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong

HEAD = "import numpy as np\n\n\ndef f(x, y, a, b, s):\n    out = np.zeros(x.shape[0])\n"
SIGNATURE = "float64[:], float64[:], float64, int64, bool"
KIND = "a machine of few states by blocks"


def program(start: str, *step: str, after: str = "state") -> str:
    """A loop that carries one variable."""
    lines = [f"    state = {start}", "    for i in range(x.shape[0]):"]
    lines += [f"        {line}" for line in (*step, f"out[i] = {after}")]
    return HEAD + "\n".join(lines) + "\n    return out\n"


def shown(source: str) -> str:
    """The plan of a program."""
    return plan_text(plan(array_program(source, SIGNATURE)))


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.long)])
def test_machines_at_the_borders_of_blocks_and_parts(count: int) -> None:
    assert_none_wrong("states_child", str(count), "3", "0")


@pytest.mark.parametrize(
    ("start", "step", "count"),
    [
        ("0", ("state = 1 if state == 0 and x[i] > a else 0 if x[i] < 0 else state",), 2),
        ("False", ("state = x[i] > a if state else x[i] > 1",), 2),
        ("-1", ("if x[i] > a:", "    state = -state"), 2),
        ("0", ("if state > 0:", "    state -= 1", "elif x[i] > a:", "    state = 3"), 4),
        ("0", ("if x[i] > a:", "    state = (state + 1) % 16"), 16),
        ("0.0", ("state = -1.0 if x[i] > a + state else 1.0 if x[i] < state else state",), 3),
        # a start that is not known has a state of its own, as other variables have
        ("b", ("if state == 1 and x[i] > a:", "    state = 2",
               "elif state == 2:", "    state = 1"), 3),
        ("s", ("state = x[i] > a if state else x[i] > 1",), 2),
        ("0.0", ("state = a if state == 0 and x[i] > 0 else 0.0 if x[i] < 0 else state",), 2),
        # what only one state reads may not exist: the last state is that failure
        ("0", ("if state == 0 and y[i] > a:", "    state = 1", "elif state == 1:",
               "    state = 0"), 3),
        ("0", ("if y[i] > a and state == 0:", "    state = 1", "elif state == 1:",
               "    state = 0"), 2),
        # no error is lost: the first test is made though it decides nothing
        ("0", ("if y[int(x[i])] > 0 and state == 5:", "    state = 1", "elif x[i] > 0:",
               "    state = 2 if state == 0 else 0"), 3),
    ],
)  # fmt: skip
def test_a_variable_of_few_values_is_a_machine(start: str, step: str, count: int) -> None:
    source = program(start, *step)
    assert KIND in shown(source)
    made = plan(array_program(source, SIGNATURE))
    assert "StateMaps(op='states'" in repr(made) and f"count={count})" in repr(made)


@pytest.mark.parametrize(
    ("start", "step"),
    [
        # seventeen values, values without an end, values of an array
        ("0", ("if x[i] > a:", "    state = (state + 1) % 17")),
        ("0", ("if x[i] > a:", "    state = 2 * state + 1")),
        ("0", ("state = b - state if x[i] > a else 3",)),
        ("0.0", ("state = y[i] if state == 0 and x[i] > a else 0.0",)),
        # arithmetic with a start that is not known
        ("b", ("if state > 0:", "    state -= 1", "elif x[i] > a:", "    state = 3")),
        # what only one state reads may be before the first element
        ("0", ("if state == 0 and y[i - 1] > a:", "    state = 1", "elif state == 1:",
               "    state = 0")),
        # what only one state divides by may be zero
        ("0", ("state = 1 if state == 0 and b // int(x[i]) > 2 else 0",)),
    ],
)  # fmt: skip
def test_what_is_no_machine_is_refused_as_before(start: str, step: str) -> None:
    with pytest.raises(Refusal) as refused:
        shown(program(start, *step))
    assert refused.value.diagnostic.code == "PRT904"
