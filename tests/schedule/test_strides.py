"""Loops that threads or blocks share out: no division, and an end that is computed once."""

from __future__ import annotations

import re

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule
from tests.schedule.test_schedules import FUNCTIONS, HEAD
from tests.support.shell import Shell

#: strips and tiles are launched for all of the result, and panels have tiles
TILED = {"strip", "tile", "wide_tile", "large_tile", "split_tile", "panel"}
STRIDED = sorted(set(FUNCTIONS) - TILED - {"map"})
#: an end that is computed from arguments, in a total, in rows and in lines of a scan
ENDS = {
    "total": ("def f(x, s):\n    return x[::s].sum()\n", "float64[:], int64"),
    "rows": ("def f(x, k):\n    return x[:, :k].sum(axis=1)\n", "float64[:, :], int64"),
    "several": (
        "def f(x, k):\n    return x[:, 2:k].sum(axis=1) + x[:, :-k].sum(axis=1)\n",
        "float64[:, :], int64",
    ),
}

#: elements that a `continue` passes over: in a block's own array, along rows, by one thread
SKIPPED = """
def private(x):
    counts = np.zeros(16)
    for i in range(x.shape[0]):
        if x[i, 0] < 0.5:
            continue
        counts[int(x[i, 0] * 3) % 16] += 1.0
    return counts


def rows(x):
    m = x.max(axis=1)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1.0:
                continue
            x[i, j] -= m[i]


def one_thread(x, out):
    m = x.max(axis=1)
    for i in range(x.shape[0]):
        if m[i] > 1.0:
            out[i] = 3.0
            if m[i] > 2.0:
                continue
            out[i] = 4.0
        elif m[i] < -1.0:
            continue
        out[i] += m[i]
    return m, x.sum(axis=1)
"""


def kernels(source: str, signature: str) -> str:
    (function,) = SourceModule(HEAD + source, "f.py").functions
    parts = convert_function(function, signature).text.parts
    # a thread for each column is the other choice, where columns are short
    parts = tuple(p for p in parts if "while " in p)
    return "".join(part for part in parts if part.startswith("@cuda.jit\n"))


@pytest.mark.parametrize("name", STRIDED)
def test_no_range_has_a_step_that_is_not_constant(name: str) -> None:
    text = kernels(*FUNCTIONS[name])
    # what one thread does in order counts by ones
    assert not re.search(r"range\([^()]*,[^()]*,", text)
    assert (
        name in ("recurrence", "row_scan", "coupled", "bounded", "quotient", "block", "time_tile")
        or "range(" not in text
    )
    indices = re.findall(r"while (\w+) < ", text)
    assert indices
    for index in indices:
        assert re.search(rf"\n +{index} \+= (cuda\.\w+|WARP)", text)


@pytest.mark.parametrize("name", ENDS)
def test_an_end_that_is_computed_has_a_name(name: str) -> None:
    """The test of a loop is made at each turn."""
    ends = re.findall(r"while \w+ < (.*):", kernels(*ENDS[name]))
    assert any(re.match("stop|bound|end", end) for end in ends)
    assert all(re.fullmatch(r"\w+(\.shape\[\d\])?", end) for end in ends)


@pytest.mark.parametrize("name", ["private", "rows", "one_thread"])
def test_a_continue_reaches_the_next_turn(shell: Shell, name: str) -> None:
    """It would pass over the step of a `while`, and one thread would leave its block."""
    shell.write("f.py", HEAD + SKIPPED)
    signature = "float64[:, :], float64[:]" if name == "one_thread" else "float64[:, :]"
    assert shell.convert("f.py", "-f", name, "--signature", signature, "-o", "-") == 0, shell.err
    assert (" continue\n" in shell.out) == (name != "one_thread")
