"""Quotients of linear functions: results at the borders of blocks, and what becomes one."""

from __future__ import annotations

import numpy as np
import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.diagnostics import Refusal
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from tests.programs.check import array_program, interpreted, stages
from tests.schedule.children import assert_none_wrong

HEAD = "import numpy as np\n\n\ndef f(x, y, a, b):\n    n, v, w = x.shape[0], 2.0, 0.0\n"
SIGNATURE = "float64[:], float64[:], float64, float64"
KIND = "a recurrence of quotients by blocks"


def loop(body: str, bounds: str = "1, n") -> str:
    """A function with one loop; statements are apart by `; `."""
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return f"{HEAD}    for i in range({bounds}):\n{lines}    return y\n"


@pytest.mark.slow
@pytest.mark.parametrize("every", [38, pytest.param(1, marks=pytest.mark.long)])
def test_lines_that_end_at_the_borders_of_blocks_and_parts(every: int) -> None:
    assert_none_wrong("quotients_child", "4", "0", str(every))


@pytest.mark.slow
@pytest.mark.parametrize("every", [34, pytest.param(1, marks=pytest.mark.long)])
def test_composed_elements_are_right_without_the_step_of_the_source(every: int) -> None:
    assert_none_wrong("quotients_child", "4", "0", str(every), "composed")


STEPS = [
    ("y[i] = x[i] + a / y[i - 1]", "1, n"),
    ("y[i] = x[i] / (b + y[i - 1])", "1, n"),
    ("y[i] = x[i] - y[i] / (y[i - 1] * a) * 0.5", "1, n"),
    ("y[i] = x[i] + a / y[i + 1]", "n - 2, -1, -1"),
    ("y[i] = (y[i - 1] + a) / (2 * (y[i - 1] - b) + 5)", "1, n"),
    ("m = b - a * y[i - 1]; y[i] = x[i] / m", "1, n"),
    ("m = b - a * y[i - 1]; y[i] = x[i] / m; x[i] = (x[i] - a * x[i - 1]) / m", "1, n"),
    ("w = a / x[i - 1]; x[i] = x[i] - w * b; y[i] = y[i] - w * y[i - 1]", "1, n"),
    ("v = v + a; g = v / (v + b); v = (1 - g) * v; y[i] = v", "n"),
    ("v = v + a; g = v / (v + b); w = w + g * (x[i] - w); v = (1 - g) * v; y[i] = w", "n"),
    ("v = 1 / (1 / (v + a) + 1 / b); y[i] = v", "n"),
    ("v = x[i] / -v; y[i] = v", "n"),
    ("if x[i] > 0:;     v = x[i] + a / v; y[i] = v", "n"),
    ("v = v * x[i] if x[i] > 0 else x[i] / (v + b); y[i] = v", "n"),
]


@pytest.mark.parametrize(("body", "bounds"), STEPS)
def test_a_quotient_of_linear_steps_is_shared_by_blocks(body: str, bounds: str) -> None:
    """And the array program, and what the passes make of it, compute what NumPy does."""
    source = loop(body, bounds)
    program = array_program(source, SIGNATURE)
    assert plan_text(plan(program)).count(KIND) == 1
    scope: dict[str, object] = {}
    exec(source, scope)
    original = scope["f"]
    assert callable(original)
    for n in (1, 2, 13):
        x, y = np.random.default_rng(n).normal(size=(2, n))
        expected = original(x.copy(), y.copy(), 0.7, 3.2)
        for stage in stages(program):
            found = interpreted(program, stage, x.copy(), y.copy(), 0.7, 3.2)
            np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = y[i - 1] - (y[i - 1] ** 2 - a) / (2 * y[i - 1])",
        "y[i] = y[i - 1] * y[i - 1] / (y[i - 1] + a)",
        "y[i] = 1 / (y[i - 1] + 1 / y[i - 1])",
        "y[i] = a / np.sqrt(y[i - 1])",
        "y[i] = a / (y[i - 1] + y[0])",
        "y[i] = a // y[i - 1]",
        "y[i] = a / y[i - 1] if y[i - 1] > 0 else x[i]",
    ],
)
def test_another_step_is_refused_as_before(body: str) -> None:
    with pytest.raises(Refusal) as refused:
        plan(array_program(loop(body), SIGNATURE))
    assert refused.value.diagnostic.code == "PRT904"


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = (a * y[i - 1] + x[i]) / b",
        "y[i] = y[i - 1] + b * (x[i] - y[i - 1])",
    ],
)
def test_a_linear_step_is_what_it_was(body: str) -> None:
    text = plan_text(plan(array_program(loop(body), SIGNATURE)))
    assert "a recurrence by blocks" in text and KIND not in text


def test_two_arguments_that_are_stored_into_must_be_two_arrays() -> None:
    body = "w = a / x[i - 1]; x[i] = x[i] - w * b; y[i] = y[i] - w * y[i - 1]"
    assert ("x", "y") in plan(array_program(loop(body), SIGNATURE)).no_alias


def test_numbers_without_kernels_of_their_own_are_refused() -> None:
    for kind in ("complex128", "float16"):
        with pytest.raises(Refusal):
            source = loop("y[i] = x[i] + a / y[i - 1]")
            plan(array_program(source, f"{kind}[:], {kind}[:], {kind}, {kind}"))


def test_the_header_says_what_is_rounded_otherwise() -> None:
    (function,) = SourceModule(loop("y[i] = x[i] + a / y[i - 1]"), "f.py").functions
    (note,) = convert_function(function, SIGNATURE).notes
    assert "line 7" in note and "rounded otherwise" in note and "32 roundings" in note
