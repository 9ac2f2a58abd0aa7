"""Recurrences of two values: results at the borders of blocks, and what becomes one."""

from __future__ import annotations

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.cost.amounts import total
from porter.cost.work import work_of
from porter.diagnostics import Refusal
from porter.resolve.globals import Globals
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from porter.target.registry import TARGETS
from tests.programs.check import array_program, interpreted, stages
from tests.schedule.children import assert_none_wrong

HEAD = "import numpy as np\n\n\ndef f(x, y, a, b):\n    n, s, t = x.shape[0], 0.0, 0.0\n"
SIGNATURE = "float64[:], float64[:], float64, float64"
KIND = "a recurrence of two values by blocks"


def loop(body: str, bounds: str = "2, n") -> str:
    """A function with one loop; statements are apart by `; `."""
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return f"{HEAD}    for i in range({bounds}):\n{lines}    return y\n"


@pytest.mark.slow
@pytest.mark.parametrize("every", [89, pytest.param(1, marks=pytest.mark.long)])
def test_lines_that_end_at_the_borders_of_blocks_and_parts(every: int) -> None:
    assert_none_wrong("coupled_child", "3", "0", str(every))


IN_ARRAY = [
    "y[i] = a * y[i - 1] + b * y[i - 2] + x[i]",
    "y[i] = x[i] + 2 * x[i - 1] - x[i - 2] - a * y[i - 1] - b * y[i - 2]",
    "y[i] = 2 * y[i - 1] - y[i - 2] + a * a * x[i - 1]",
    "y[i] += y[i - 2]",
    "y[i] = y[i - 1] + a * (y[i - 1] - y[i - 2]) + x[i]",
    "y[i] = (x[i] - a * y[i - 1] - y[i - 2]) / b",
    "y[i] = -(x[i] * y[i - 2]) + y[i]",
]
IN_VARIABLES = [
    "v = a * x[i] + s; s = b * x[i] - a * v + t; t = x[i] - b * v; y[i] = v",
    "v = a * x[i] + (1 - a) * (s + t); t = b * (v - s) + (1 - b) * t; s = v; y[i] = s + t",
    "s, t = a * s - b * t + x[i], b * s + a * t; y[i] = s",
    "y[i] = t; t = s; s = a * s + b * t + x[i]",
]


def test_what_only_reads_the_other_value_is_a_recurrence_of_its_own() -> None:
    text = plan_text(
        plan(array_program(loop("s = a * s + x[i]; t = b * t + s; y[i] = t"), SIGNATURE))
    )
    assert text.count("a recurrence by blocks") == 2 and KIND not in text


@pytest.mark.parametrize("body", [*IN_ARRAY, *IN_VARIABLES])
def test_a_linear_step_of_two_values_is_shared_by_blocks(body: str) -> None:
    """And the array program, and what the passes make of it, compute what NumPy does."""
    source = loop(body)
    program = array_program(source, SIGNATURE)
    assert KIND in plan_text(plan(program))
    scope: dict[str, object] = {}
    exec(source, scope)
    original = scope["f"]
    assert callable(original)
    for n in (0, 1, 2, 3, 13):
        x, y = np.random.default_rng(n).normal(size=(2, n))
        expected = original(x.copy(), y.copy(), 0.7, -0.4)
        for stage in stages(program):
            found = interpreted(program, stage, x.copy(), y.copy(), 0.7, -0.4)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("body", "bounds"),
    [
        ("y[i] = a * y[i - 1] + b * y[i - 3] + x[i]", "3, n"),
        ("y[i] = y[i - 1] * y[i - 2] + x[i]", "2, n"),
        ("y[i] = a * y[i - 1] + y[i - 2] / y[i - 1]", "2, n"),
        ("y[i] = max(a * y[i - 1], y[i - 2])", "2, n"),
        ("y[i] = a * y[i - 1] + b * y[i - 2] + y[0]", "2, n"),
        ("y[i] = a * y[i - 1] + b * y[i - 2]", "1, n"),
        ("y[i] = a * y[i - 1] + b * y[i - 2]; x[i] = y[i - 1]", "2, n"),
        ("s = a * s * t + x[i]; t = b * s; y[i] = s", "n"),
        ("s = a * s + t; t = np.abs(s); y[i] = s", "n"),
        ("s = a * s + b * t; t = s + y[i - 1]; y[i] = t", "1, n"),
        ("s = a * s + b * t; t = t if s > 1 else s; y[i] = s", "n"),
        ("r = t; t = s; s = a * s + b * t + v; v = r; y[i] = s", "n"),
    ],
)
def test_what_is_no_linear_step_of_two_values_is_refused(body: str, bounds: str) -> None:
    source = loop(body, bounds).replace("s, t = x.shape[0]", "s, t, v = x.shape[0], 0.0")
    with pytest.raises(Refusal) as refused:
        plan(array_program(source, SIGNATURE))
    assert refused.value.diagnostic.code == "PRT904"


@pytest.mark.parametrize(
    ("bounds", "body", "apart"),
    [
        ("2, n", "y[i] = a * y[i - 1] + b * y[i - 2] + x[i]", False),
        ("2, n", "y[i] = a * y[i - 1] + b * y[i - 2] + x[i - 1]", True),
        ("2, n", "y[i] = a * y[i - 1] + x[0] * y[i - 2]", True),
        ("2, n - 1", "y[i] = a * y[i - 1] + y[i - 2] + x[i + 1]", False),
        ("n - 3, -1, -1", "y[i] = a * y[i + 1] + y[i + 2] + x[i + 1]", True),
        ("n", "v = x[i]; s, t = a * s + t, s + v; y[i] = s", False),
        ("1, n", "v = x[i - 1]; s, t = a * s + t, s + v; y[i] = s", True),
        ("n", "y[i] = s; v = x[i]; s, t = a * s + t, s + v", True),
    ],
)
def test_what_a_loop_would_read_back_is_not_one_array(bounds: str, body: str, apart: bool) -> None:
    made = plan(array_program(loop(body, bounds), SIGNATURE))
    assert KIND in plan_text(made)
    assert (("y", "x") in made.no_alias) is apart


@pytest.mark.parametrize("body", [IN_ARRAY[0], IN_VARIABLES[0]])
def test_a_thread_of_its_own_keeps_the_loop(body: str) -> None:
    (function,) = SourceModule(loop(body), "f.py").functions
    scope = Globals(function.module)
    scope.options.allow_serial = True
    made = convert_function(function, SIGNATURE, scope, TARGETS["loops"])
    text = "".join(made.text.parts)
    assert "for i in range(2, " in text and "composed" not in text
    assert made.notes == ()


def test_the_header_says_what_is_rounded_otherwise_and_when_it_is_not() -> None:
    (function,) = SourceModule(loop(IN_ARRAY[0]), "f.py").functions
    (note,) = convert_function(function, SIGNATURE).notes
    assert "line 7" in note and "rounded otherwise" in note and "beyond 16" in note
    assert convert_function(function, "int64[:], int64[:], int64, int64").notes == ()


def test_the_compositions_of_a_step_are_counted() -> None:
    """As many operations an element as the compiled kernels execute, within a factor of 2."""
    made = plan(array_program(loop(IN_ARRAY[0]), SIGNATURE))
    amounts = work_of(made).per_launch("ops64")
    sizes = {"x.shape[0]": 1002, "y.shape[0]": 1002}
    assert 557 / 2 < total(amounts, sizes) / 1000 < 557 * 2


def test_numbers_without_kernels_of_their_own_are_refused() -> None:
    for kind in ("complex128", "float16", "int32"):
        with pytest.raises(Refusal):
            plan(array_program(loop(IN_ARRAY[0]), f"{kind}[:], {kind}[:], {kind}, {kind}"))
