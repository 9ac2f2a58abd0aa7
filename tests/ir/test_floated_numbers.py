"""Integers under floating functions: NumPy gives float16 for a number of int8."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule

RESULTS = {
    "np.sqrt(n)": True,
    "x + np.log(n)": True,
    "np.log((x > 0) * n)": True,
    "np.log(np.logical_and(x, x) * n)": True,
    "np.log(x * n)": False,
    "np.sqrt(x) * n": False,
    "np.log((x > n) * 2)": False,
}


@pytest.mark.parametrize("result", RESULTS)
def test_which_numbers_must_be_wide(result: str) -> None:
    source = f"import numpy as np\n\ndef f(x, n):\n    return {result}, x * 2\n"
    made = convert_function(SourceModule(source, "f.py").functions[0], "float64[:, :], int64")
    assert made.program.parameters[1].floated is RESULTS[result]
