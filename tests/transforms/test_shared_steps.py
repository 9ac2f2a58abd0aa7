"""What a thread computes twice, statement by statement, it computes once."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.ir import Let
from porter.ir.walk import statements
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule

LOOP = """\
import numpy as np

def f(x, y, c):
    a, b = np.zeros_like(x), np.zeros_like(x)
    for i in range(x.shape[0]):
        t = np.exp(x[i]) * y[i]
        if t > 1.0:
            t -= 1.0
{between}
        u = np.exp(x[i]) * y[i]
        if u > {limit}:
            u -= 1.0
{after}
    return a, b
"""
#: what lies between, the limit, what comes after -> how often the two variables are assigned
CASES = {
    ("a[i] = t", "1.0", "b[i] = u"): 2,
    ("a[i] = t", "1.0", "b[i] = u + t"): 2,
    ("a[i] = t", "2.0", "b[i] = u"): 4,  # the first one has another value by then
    ("x[i] = t", "1.0", "b[i] = u"): 4,
    ("a[i] = t; y[i] = 2.0", "1.0", "b[i] = u"): 4,
    ("c[i] = t", "1.0", "b[i] = u"): 4,  # the caller may give one array twice
    ("a[i] = t; t += 1.0", "1.0", "b[i] = u; a[i] += t"): 5,
    ("a[i] = t", "1.0", "u += 1.0; b[i] = u; a[i] = t"): 5,
}


@pytest.mark.parametrize(("between", "limit", "after"), CASES)
def test_assignments(between: str, limit: str, after: str) -> None:
    source = LOOP.format(between=f"        {between}", limit=limit, after=f"        {after}")
    function = SourceModule(source, "f.py").functions[0]
    found = plan(convert_function(function, ", ".join(["float64[:]"] * 3)).program)
    stages = [s for i in items_of(found.items) if isinstance(i, Launch) for s in i.kernel.body]
    lets = [s for s in statements(tuple(stages)) if isinstance(s, Let)]
    assert len(lets) == CASES[between, limit, after]
