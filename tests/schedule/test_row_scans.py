"""Running folds and recurrences along rows: results at the borders of blocks, and what has one."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from tests.programs.check import array_program
from tests.schedule.children import assert_none_wrong

HEAD = "import numpy as np\n\n\ndef f(x, y, a, k):\n    for c in range(x.shape[0]):\n"
SIGNATURE = "float64[:, :], float64[:, :], float64, int64[:]"
KIND = "a block for each row"
LOOP = "for t in range(1, x.shape[1]): "


def function(body: str) -> str:
    """A function with a loop over rows; statements are apart by `; `, those of a loop by `: `."""
    text = HEAD
    for statement in body.split("; "):
        loop, *rest = statement.split(": ", 1)
        text += f"        {loop}:\n" if rest else f"        {loop}\n"
        text += "".join(f"            {line}\n" for part in rest for line in part.split(" | "))
    return text


@pytest.mark.slow
@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.long)])
def test_rows_that_end_at_the_borders_of_blocks(every: int) -> None:
    assert_none_wrong("row_scans_child", "3", "0", str(every))


@pytest.mark.parametrize(
    "body",
    [
        f"y[c, 0] = x[c, 0]; {LOOP}y[c, t] = a * y[c, t - 1] + (1 - a) * x[c, t]",
        f"{LOOP}y[c, t] += y[c, t - 1]",
        f"{LOOP}x[c, t] = np.maximum(x[c, t], x[c, t - 1])",
        f"s = 0.0; {LOOP}s = a * s + x[c, t] | y[c, t] = s",
        f"s = x[c, 0]; {LOOP}s += x[c, t] * a | y[c, t] = s - x[c, t]",
        f"s = 0.0; {LOOP}s += a * (x[c, t] - s) | y[c, t] = s",
        f"g = x[c, 0] * a; {LOOP}y[c, t] = g * y[c, t - 1] + x[c, t]",
        "for t in range(x.shape[1] - 2, -1, -1): x[c, t] += a * x[c, t + 1]",
        f"high = x[c, 0]; {LOOP}if x[c, t] > high: |     high = x[c, t] | y[c, t] = x[c, t] - high",
    ],
)
def test_a_block_for_each_row_is_the_other_choice(body: str) -> None:
    text = plan_text(plan(array_program(function(body), SIGNATURE)))
    assert "a thread per element over c" in text
    assert KIND in text and "if _is_long(x.shape[1]" in text


@pytest.mark.parametrize(
    "body",
    [
        # down the columns, neighbours are in order as they are
        "for t in range(1, x.shape[0]): y[t, c] = a * y[t - 1, c] + x[t, c]",
        # rows of different lengths, and positions from data
        "for t in range(1, c): y[c, t] = a * y[c, t - 1] + x[c, t]",
        f"s = 0.0; {LOOP}s = a * s + x[c, k[t]] | y[c, t] = s",
        # no step that is composed, or of a kind that only a single line has
        f"{LOOP}y[c, t] = a * y[c, t - 1] * y[c, t - 1] + x[c, t]",
        f"{LOOP}y[c, t] = max(0.0, y[c, t - 1] + x[c, t])",
        "for t in range(2, x.shape[1]): y[c, t] = a * y[c, t - 1] + y[c, t - 2]",
        # a tile would read what an earlier one has stored
        f"{LOOP}y[c, t] = y[c, t - 1] + y[c, 1]",
        # arguments that would have to differ
        f"s = 0.0; {LOOP}s = a * s + x[c, t - 1] | y[c, t] = s",
        # more than one store, or something after the loop
        f"s = 0.0; {LOOP}s += x[c, t] | y[c, t] = s | x[c, t] = 0.0",
        f"{LOOP}y[c, t] = a * y[c, t - 1] + x[c, t]; y[c, 0] = a",
        # every other element
        "for t in range(2, x.shape[1], 2): y[c, t] = a * y[c, t - 2] + x[c, t]",
    ],
)
def test_other_rows_keep_their_threads(body: str) -> None:
    assert KIND not in plan_text(plan(array_program(function(body), SIGNATURE)))


def test_a_block_stores_what_comes_first_before_it_reads_that() -> None:
    body = f"g = x[c, 1]; y[c, 0] = g; {LOOP}y[c, t] = g * y[c, t - 1] + x[c, t]"
    (found,) = SourceModule(function(body), "f.py").functions
    parts = convert_function(found, SIGNATURE).text.parts
    (text,) = (p for p in parts if "def f_scan(" in p)
    lines = [line.strip() for line in text.splitlines()]
    first, wait = lines.index("y[c, 0] = g"), "cuda.syncthreads()"
    # the threads have read `g`, and the first one has stored, when the row begins
    assert lines[first - 3] == wait and "if cuda.threadIdx.x == 0:" in lines[first - 2 : first]
    assert lines[first + 1] == wait
    assert lines.index("before = y[c, 0]") > first


def test_the_header_says_what_is_rounded_otherwise_and_where() -> None:
    body = f"s = 0.0; {LOOP}s = a * s + x[c, t] | y[c, t] = s"
    (said,) = plan(array_program(function(body), SIGNATURE)).remarks
    assert said.startswith("where rows are long, the recurrence at line 8 is computed in parts")
