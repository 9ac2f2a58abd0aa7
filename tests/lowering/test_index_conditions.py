"""Subscripts under conditions on the indices of loops: which sizes the host asks for."""

from __future__ import annotations

import numpy as np
import pytest

from porter import ir
from porter.convert.function import Converted, convert_function
from porter.ir.interp import run
from porter.source.module import SourceModule

PAIRS = """
def f(x, n):
    d = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            {}
    return d
"""
LINE = """
def f(x, n):
    d = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        {}
    return d
"""
#: the loop, and the least number of rows for which it reads the third column
CASES = {
    "different": (PAIRS, "if i != j:\n                d[i] += x[i, 2] - x[j, 2]", 2),
    "turned round": (PAIRS, "if not j == i:\n                d[i] += x[i, 2] - x[j, 2]", 2),
    "left": (PAIRS, "if i == j:\n                continue\n            d[i] += x[j, 2]", 2),
    "one of two": (
        PAIRS, "if i == j or n > 9:\n                continue\n            d[i] += x[j, 2]", 2,
    ),
    "below": (PAIRS, "if i < j:\n                d[i] += x[j, 2]", 2),
    "beyond a number": (LINE, "if i > 3:\n            d[i] = x[i, 2]", 5),
    "the rest beyond it": (LINE, "if i <= 3:\n            continue\n        d[i] = x[i, 2]", 5),
    "with a number of the host": (LINE, "if i > 3 and n < 9:\n            d[i] = x[i, 2]", 5),
    "no condition": (LINE, "d[i] = x[i, 2]", 1),
}  # fmt: skip


def converted(loop: str, body: str) -> tuple[str, Converted]:
    source = "import numpy as np\n" + loop.format(body)
    function = SourceModule(source, "f.py").functions[0]
    return source, convert_function(function, "float64[:, :], int64")


def outcome(function: object, *arguments: object) -> object:
    try:
        return function(*arguments)  # type: ignore[operator]
    except IndexError:
        return IndexError


@pytest.mark.parametrize("name", CASES)
def test_the_host_asks_where_numpy_reads(name: str) -> None:
    loop, body, least = CASES[name]
    source, made = converted(loop, body)
    assert not any("position(" in part for part in made.text.parts)
    scope: dict[str, object] = {}
    exec(source, scope)
    for rows in (0, 1, 2, 4, 5, 7):
        for columns in (2, 3):
            x = np.random.default_rng(0).random((rows, columns))
            expected = outcome(scope["f"], x, 1)
            assert (expected is IndexError) == (columns < 3 and rows >= least)
            found = outcome(lambda *a, made=made: run(made.program, a), x, 1)
            assert (found is IndexError) == (expected is IndexError), (rows, columns)
            if found is not IndexError:
                np.testing.assert_array_equal(expected, found)  # type: ignore[arg-type]


@pytest.mark.parametrize("test", ["i % 2 == 1", "i == n"])
def test_the_kernel_tests_what_no_interval_says(test: str) -> None:
    _, made = converted(LINE, f"if {test}:\n            d[i] = x[i, 2]")
    assert any("position(2, x.shape[1], error)" in part for part in made.text.parts)


def test_a_condition_ends_with_its_iteration() -> None:
    body = "for j in range(x.shape[0]):\n            if i == j:\n                continue\n"
    body += "            d[i] += x[j, 2]\n        d[i] += x[i, 0]"
    _, made = converted(LINE, body)
    whens = {c.left.constant: c.when for c in made.program.checks if isinstance(c, ir.Check)}
    assert whens[3] == (whens[1][0] - 1,)
