"""What is computed twice from unchanged arrays is computed once."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.ir import Fetch
from porter.schedule.nodes import Launch, Plan, items_of
from porter.source.module import SourceModule

TWICE = """\
    a = np.histogram(x, n)[0]
{between}    b = np.histogram({second}, n)[0]
    return a, b
"""
#: the statement between two histograms, and of what the second one is -> kernels
BETWEEN = {
    ("", "x"): 5,
    ("    y = x + 1.0\n", "x"): 5,
    ("    x[0] = 2.0\n", "x"): 10,  # the kernel that counts stores it, too
    ("    w[0] = 2.0\n", "x"): 11,  # the caller may give one array twice
    ("", "w"): 10,
    ("    n = n + 1\n", "x"): 9,  # the limits of the values are the same, the bins are not
}
MEANS = """\
def f(labels, values, k):
    sums = np.bincount(labels, weights=values, minlength=k)
    counts = np.bincount({second}, minlength=k)
    return sums / np.maximum(counts, 1)
"""


def planned(source: str, signature: str) -> Plan:
    function = SourceModule(f"import numpy as np\n\n{source}", "f.py").functions[0]
    return plan(convert_function(function, signature).program)


def kernels(found: Plan) -> int:
    return sum(isinstance(i, Launch) for i in items_of(found.items))


@pytest.mark.parametrize(("between", "second"), BETWEEN)
def test_histograms(between: str, second: str) -> None:
    source = "def f(x, w, n):\n" + TWICE.format(between=between, second=second)
    found = planned(source, "float64[:], float64[:], int64")
    assert kernels(found) == BETWEEN[between, second]


@pytest.mark.parametrize(("second", "sizes"), [("labels", 1), ("labels + 1", 2)])
def test_sizes_that_are_read_back(second: str, sizes: int) -> None:
    found = planned(MEANS.format(second=second), "int64[:], float64[:], int64")
    items = list(items_of(found.items))
    assert sum(isinstance(i, Fetch) for i in items) == sizes
    compared = [
        c for c in found.checks if {"length", "length2"} <= c.left.names() | c.right.names()
    ]
    assert len(compared) == sizes - 1
