"""What a variable was before a loop that became a reduction needs no array and no launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter import ir
from porter.convert.passes import plan, steps
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import Launch
from porter.source.module import SourceModule

DOT = """
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s / x.shape[0]
"""
ELEMENT = """
    m = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > m:
            m = x[i]
    return m
"""
THREE = """
    s = 0.0
    q = 1.5
    for i in range(x.shape[0]):
        s += x[i]
        q += x[i] * y[i]
    mean = s / len(x)
    return mean, q - mean * mean
"""
READ_BEFORE = """
    s = 2.5
    y[0] = s
    for i in range(x.shape[0]):
        s += x[i]
    return s
"""
STORED_BETWEEN = """
    s = x[0]
    x[0] = 7.0
    for i in range(1, x.shape[0]):
        s += x[i]
    return s
"""
CHANGED = """
    k = 2.0
    if len(y) > 3:
        k = 4.0
    s = k
    k = k + 1.0
    for i in range(x.shape[0]):
        s += x[i]
    return s * k
"""
LEFT = """
    s = 1.0
    for t in range(3):
        s = 2.0
        if t == len(y) - 4:
            break
        for i in range(x.shape[0]):
            s += x[i]
        x[:] = x + 1.0
    return s
"""


def program_of(body: str) -> tuple[Any, ir.Program]:
    source = f"import numpy as np\n\ndef f(x: 'float64[:]', y: 'float64[:]'):{body}"
    names: dict[str, Any] = {}
    exec(source, names)
    module = SourceModule(source, "f.py")
    (function,) = module.functions
    return names["f"], build(function, next(candidates(function, None)), Globals(module))


@pytest.mark.parametrize("body", [DOT, ELEMENT, THREE, READ_BEFORE, STORED_BETWEEN, CHANGED, LEFT])
def test_each_pass_leaves_the_same_result(body: str) -> None:
    original, program = program_of(body)
    x, y = np.linspace(-2.0, 3.0, 5), np.linspace(1.0, 2.0, 5)
    expected = original(x.copy(), y.copy())
    for name, statements, context in steps(program):
        found = run(program, (x.copy(), y.copy()), statements, dict(context.buffers))
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize(("body", "results"), [(DOT, 1), (ELEMENT, 1), (THREE, 2)])
def test_it_is_one_launch_that_makes_nothing_but_results(body: str, results: int) -> None:
    items = plan(program_of(body)[1]).items
    assert sum(isinstance(i, Launch) for i in items) == 1
    assert sum(isinstance(i, ir.Alloc) for i in items) == results
