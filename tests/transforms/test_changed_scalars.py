"""What reads a variable is computed before the variable changes, wherever its value is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.convert.passes import steps
from porter.inference.signature import candidates
from porter.ir.interp import run
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule

HEAD = """
import numpy as np

def f(x, s: float, n: int):
    if n > 3:
        s = s + 1.0
"""
INLINED = """
    y = x * s
    if n > 5:
        s = s + 1.0
    return y + s
"""
FOLDED_TWICE = """
    y = x * np.sum(x * s)
    if n > 5:
        s = s + 1.0
    return y + x * np.sum(x * s)
"""


@pytest.mark.parametrize("body", [INLINED, FOLDED_TWICE])
@pytest.mark.parametrize("n", [0, 4, 6])
def test_an_array_keeps_the_value_that_it_was_made_of(body: str, n: int) -> None:
    source = HEAD + body
    names: dict[str, Any] = {}
    exec(source, names)
    module = SourceModule(source, "f.py")
    (function,) = module.functions
    program = build(function, next(candidates(function, None)), Globals(module))
    x = np.arange(1.0, 6.0)
    expected = names["f"](x, 0.25, n)
    for name, statements, context in steps(program):
        result = run(program, (x, 0.25, n), statements, dict(context.buffers))
        np.testing.assert_allclose(result, expected, rtol=1e-14, err_msg=name)
