"""One array for two arguments: after every pass the statements do what NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from tests.support.interpreted import versions

#: each reads an argument's element, under the other's name, after it was stored
SOURCES = {
    "store_between_reads": """
def f(x, z):
    for i in range(x.shape[0]):
        x[i] = 0.0
        s = z[i] * 2.0 + 1.0
        x[i] = s
""",
    "loop_that_breaks": """
def f(x, z):
    for i in range(x.shape[0]):
        x[i] = 0.0
        s = 1.0
        for k in range(3):
            s += z[i]
            if s > 10.0:
                break
        x[i] = s
""",
    "fill_before_a_part": """
def f(x, z):
    x[:] = 0.0
    x[1:-1] = z[1:-1] * 2.0
""",
    "two_stores": """
def f(x, z):
    x[:] = z + 1.0
    x[:] = z * 2.0
""",
    "accumulation": """
def f(x, z):
    x[:] = 0.0
    for i in range(x.shape[0]):
        x[i] += z[i] * 2.0
""",
    "kept_in_a_variable": """
def f(x, z):
    for i in range(x.shape[0]):
        for k in range(3):
            x[i] += z[i] + 1.0
""",
    "a_mean_of_each_state": """
def f(x, z):
    x += z.mean()
    x /= z.std()
""",
    "a_mean_in_a_loop": """
def f(x, z):
    for k in range(3):
        x[:] = x + z.mean()
""",
    "computed_before": """
def f(x, z):
    t = z * 2.0
    x[:] = 1.0
    x += t + z
""",
}


@pytest.mark.parametrize("name", SOURCES)
def test_one_array_for_two_arguments(name: str) -> None:
    module = SourceModule(SOURCES[name], "f.py")
    (function,) = module.functions
    types = next(candidates(function, "float64[:], float64[:]"))
    program = build(function, types, Globals(module))
    scope: dict[str, Any] = {}
    exec(SOURCES[name], scope)
    expected = np.arange(1.0, 6.0)
    scope["f"](expected, expected)
    for step, body, buffers in versions(program):
        x = np.arange(1.0, 6.0)
        run(program, (x, x), body, buffers)
        assert np.allclose(x, expected, rtol=1e-14), step
