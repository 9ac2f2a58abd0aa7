"""Linear recurrences: results at the borders of blocks, parts and tiles, and what becomes one."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.diagnostics import Refusal
from porter.resolve.globals import Globals
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from porter.target.registry import TARGETS
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong

HEAD = "import numpy as np\n\n\ndef f(x, y, a):\n"
LOOP = "    for i in range(1, x.shape[0]):\n"
SIGNATURE = "float64[:], float64[:], float64"


@pytest.mark.slow
@pytest.mark.parametrize("every", [53, pytest.param(1, marks=pytest.mark.long)])
def test_lines_that_end_at_the_borders_of_blocks_and_parts(every: int) -> None:
    assert_none_wrong("recurrences_child", "3", "0", str(every))


@pytest.mark.parametrize(
    "step",
    [
        "y[i] = a * y[i - 1] + x[i]",
        "y[i] = x[i] - y[i - 1] * x[i]",
        "y[i] = x[i] + (a * y[i - 1] - 1)",
        "y[i] = -(x[i] - a * y[i - 1])",
        "y[i] = a * (y[i - 1] + x[i])",
        "y[i] = (y[i - 1] + x[i]) / 2",
        "y[i] = y[i - 1] + a * (x[i] - y[i - 1])",
        "y[i] = y[i - 1] - (y[i - 1] - x[i]) * a / 3",
        "y[i] = x[i - 1] - y[i - 1] + y[i]",
        "y[i] = (x[i] - a * y[i - 1]) / (a + 2)",
    ],
)
def test_a_linear_step_is_shared_by_blocks(step: str) -> None:
    text = plan_text(plan(array_program(f"{HEAD}{LOOP}        {step}\n    return y\n", SIGNATURE)))
    assert "a recurrence by blocks" in text


@pytest.mark.parametrize(
    "step",
    [
        "y[i] = a * y[i - 1] * y[i - 1] + x[i]",
        "y[i] = np.abs(a * y[i - 1] + x[i])",
        "y[i] = 0.5 * y[i - 1] + a * (x[i] - y[i - 1])",
        "y[i] = a * y[i - 1] + y[i - 2]",
        "y[i] = a * y[i - 1] + y[0]",
        "y[i] = y[i - 1] * y[i] + y[x.shape[0] - i]",
    ],
)
def test_what_is_no_linear_step_is_refused_as_before(step: str) -> None:
    with pytest.raises(Refusal) as refused:
        plan(array_program(f"{HEAD}{LOOP}        {step}\n    return y\n", SIGNATURE))
    assert refused.value.diagnostic.code == "PRT904"
    assert "--target loops" in refused.value.diagnostic.help


@pytest.mark.parametrize(
    ("loop", "body", "apart"),
    [
        ("1, n", "y[i] = a * y[i - 1] + x[i]", False),
        ("1, n", "y[i] = a * y[i - 1] + x[i - 1]", True),
        ("1, n", "y[i] = x[i] * y[i - 1] + x[0]", True),
        ("1, n - 1", "y[i] = a * y[i - 1] + x[i + 1]", False),
        ("n - 2, 0, -1", "y[i] = a * y[i + 1] + x[i + 1]", True),
        ("n - 2, 0, -1", "y[i] = a * y[i + 1] + x[i - 1]", False),
        ("1, n", "y[i] = y[i - 1] + x[i - 1]", True),
        ("n", "v = a * v + x[i]; y[i] = v", False),
        ("n", "y[i] = v; v = a * v + x[i]", True),
        ("1, n", "v += x[i - 1]; y[i] = v", True),
    ],
)
def test_what_a_loop_would_read_back_is_not_one_array(loop: str, body: str, apart: bool) -> None:
    """The terms are read before the loop: not what it stores into the same array."""
    loop = f"    n, v = x.shape[0], 0.0\n    for i in range({loop}):\n        {body}\n"
    made = plan(array_program(f"{HEAD}{loop}    return y\n", SIGNATURE))
    assert (("y", "x") in made.no_alias) is apart


def test_numbers_without_kernels_of_their_own_are_refused() -> None:
    """Of complex numbers no factor is compared with 1, narrow ones are computed with in others."""
    source = f"{HEAD}{LOOP}        y[i] = a * y[i - 1] + x[i]\n    return y\n"
    for kind in ("complex128", "float16", "int8", "uint64"):
        with pytest.raises(Refusal):
            plan(array_program(source, f"{kind}[:], {kind}[:], {kind}"))


def test_a_thread_of_its_own_keeps_the_loop() -> None:
    """The loops of a CPU run it as it stands."""
    source = f"{HEAD}{LOOP}        y[i] = a * y[i - 1] + x[i]\n    return y\n"
    (function,) = SourceModule(source, "f.py").functions
    scope = Globals(function.module)
    scope.options.allow_serial = True
    made = convert_function(function, SIGNATURE, scope, TARGETS["loops"])
    text = "".join(made.text.parts)
    assert "for i in range(1, x.shape[0]):" in text and "factors" not in text
    assert made.notes == ()


def test_the_header_says_what_is_rounded_otherwise() -> None:
    source = f"{HEAD}{LOOP}        y[i] = a * y[i - 1] + x[i]\n    return y\n"
    (function,) = SourceModule(source, "f.py").functions
    (note,) = convert_function(function, SIGNATURE).notes
    assert "line 6" in note and "rounded otherwise" in note
    assert convert_function(function, "int64[:], int64[:], int64").notes == ()
