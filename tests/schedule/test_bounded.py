"""Sums within bounds: results at the borders of blocks, parts and tiles, and what becomes one."""

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

HEAD = "import numpy as np\n\n\ndef f(x, y, a, b):\n    n, v, w = x.shape[0], 0.0, 0.0\n"
SIGNATURE = "float64[:], float64[:], float64, float64"
KIND = "a bounded recurrence by blocks"


def loop(body: str, bounds: str = "1, n") -> str:
    """A function with one loop; statements are apart by `; `."""
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return f"{HEAD}    for i in range({bounds}):\n{lines}    return y\n"


@pytest.mark.slow
@pytest.mark.parametrize("every", [74, pytest.param(1, marks=pytest.mark.long)])
def test_lines_that_end_at_the_borders_of_blocks_and_parts(every: int) -> None:
    assert_none_wrong("bounded_child", "3", "0", str(every))


STEPS = [
    "y[i] = max(x[i], y[i - 1] + x[i])",
    "y[i] = max(0.0, y[i - 1] + x[i] - a)",
    "y[i] = np.clip(y[i - 1] + x[i], a, b)",
    "y[i] = min(max(y[i - 1] + x[i], a), b)",
    "y[i] = max(min(y[i - 1], b), a) - x[i]",
    "y[i] = np.fmin(x[i] + y[i - 1], b)",
    "y[i] = min(max(y[i - 1], y[i]), x[i])",
    "t = y[i - 1] + x[i]; y[i] = t if t > 0 else 0.0",
    "y[i] = x[i] if y[i - 1] < 0 else y[i - 1] + x[i]",
    "v = a if x[i] > 0 else max(v - x[i], b); y[i] = v",
    "v = max(v + x[i], 0.0); y[i] = v",
    "v += x[i]; if v < 0:;     v = 0.0; y[i] = v",
    "v += x[i] - a; if v > b:;     v = b; elif v < 0:;     v = 0.0; y[i] = v",
    "v += x[i] - a; if v < a:;     v = a; else:;     if v > b:;         v = b; y[i] = v",
    "if x[i] > 0:;     v = min(v + 1, b); else:;     v = max(v - 1, 0.0); y[i] = v",
    "if x[i] > 0:;     v += 1; if v > b:;     v = b; y[i] = v",
    "if x[i] > 0:;     v = max(v - x[i], a); y[i] = v",
    "v = max(0.0, v + x[i] - a); w = max(0.0, w - x[i] - a); y[i] = max(v, w)",
]


@pytest.mark.parametrize("body", STEPS)
def test_a_sum_within_bounds_is_shared_by_blocks(body: str) -> None:
    """And the array program, and what the passes make of it, compute what NumPy does."""
    source = loop(body)
    program = array_program(source, SIGNATURE)
    assert KIND in plan_text(plan(program))
    scope: dict[str, object] = {}
    exec(source, scope)
    original = scope["f"]
    assert callable(original)
    for a, b in ((-0.3, 0.7), (0.6, -0.2)):
        x, y = np.random.default_rng(0).normal(size=(2, 13))
        expected = original(x.copy(), y.copy(), a, b)
        for stage in stages(program):
            found = interpreted(program, stage, x.copy(), y.copy(), a, b)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = max(y[i - 1], x[i] - y[i - 1])",
        "y[i] = max(0.0, x[i] - y[i - 1])",
        "y[i] = max(0.0, a * y[i - 1] + x[i])",
        "y[i] = max(y[i - 1] + x[i], y[i - 1] - a)",
        "y[i] = max(y[i - 1] + x[i], y[0])",
        "y[i] = min(abs(y[i - 1]) + x[i], b)",
        "t = y[i - 1] + x[i]; y[i] = t if t > a else b",
        "t = y[i - 1] + x[i]; y[i] = t if y[i - 1] > 0 else 0.0",
        "t = y[i - 1] + x[i]; y[i] = min(t, t + y[i])",
        "y[i] = x[i] if y[i - 1] < a else y[i - 1] + x[i]",
        "v += x[i]; if v > b:;     v = a; y[i] = v",
        "v += x[i]; if v > b:;     v = 0.0; elif v < 0:;     v = x[i]; y[i] = v",
        "if v > 0:;     v = max(v - x[i], a); y[i] = v",
    ],
)
def test_another_step_is_refused_as_before(body: str) -> None:
    with pytest.raises(Refusal) as refused:
        plan(array_program(loop(body), SIGNATURE))
    assert refused.value.diagnostic.code == "PRT904"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("y[i] = y[i - 1] + x[i]", "a running fold by blocks"),
        ("y[i] = np.maximum(y[i - 1], x[i])", "a running fold by blocks"),
        ("v = np.minimum(v, x[i]); y[i] = v", "a running fold by blocks"),
        ("v = 0.0 if x[i] > 1 else v + x[i]; y[i] = v", "a recurrence by blocks"),
    ],
)
def test_what_has_no_bound_or_no_sum_is_what_it_was(body: str, kind: str) -> None:
    text = plan_text(plan(array_program(loop(body), SIGNATURE)))
    assert kind in text and KIND not in text


def test_integers_have_one_sum_and_bounds_on_one_side_of_it() -> None:
    """What wraps around between two bounds would not be seen in a step composed of them."""
    signature = "int64[:], int64[:], int64, int64"
    for step in ("max(min(y[i - 1] + x[i], b), a)", "max(min(y[i - 1], b), a) + x[i] - a"):
        program = array_program(loop(f"y[i] = {step}"), signature)
        assert KIND in plan_text(plan(program))
    for step in ("max(min(y[i - 1], b) + x[i], a)", "max(y[i - 1] + x[i], a) + x[i]"):
        with pytest.raises(Refusal):
            plan(array_program(loop(f"y[i] = {step}"), signature))


def test_numbers_without_kernels_of_their_own_are_refused() -> None:
    for kind in ("float16", "int8", "uint64"):
        with pytest.raises(Refusal):
            source = loop("y[i] = np.maximum(y[i - 1] + x[i], a)")
            plan(array_program(source, f"{kind}[:], {kind}[:], {kind}, {kind}"))


def test_the_header_says_what_is_rounded_otherwise() -> None:
    (function,) = SourceModule(loop("y[i] = max(y[i - 1] + x[i], a)"), "f.py").functions
    (note,) = convert_function(function, SIGNATURE).notes
    assert "line 7" in note and "rounded otherwise" in note and "huge or not finite" in note
    assert convert_function(function, "int64[:], int64[:], int64, int64").notes == ()


def test_a_step_in_order_reads_as_the_source() -> None:
    """What Python's `max` and `min` need twice is computed once."""
    source = (
        "def f(x, high):\n    out = np.zeros_like(x)\n    v = 0.0\n"
        "    for i in range(x.shape[0]):\n        v = min(max(v + x[i], 0.0), high)\n"
        "        out[i] = v\n    return out\n"
    )
    (function,) = SourceModule("import numpy as np\n\n\n" + source, "f.py").functions
    text = "".join(convert_function(function, "float64[:], float64").text.parts)
    lines = [line.strip() for line in text.split("\n")]
    k = next(k for k, line in enumerate(lines) if line.startswith("for i in range(tile"))
    assert lines[k + 1 : k + 4] == [
        "value = value + x[i]",
        "value = T(0.0) if T(0.0) > value else value",
        "value = high if high < value else value",
    ]
