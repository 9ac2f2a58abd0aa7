"""Integers whose own dtype NumPy computes in: float16 of an int8, int8 of bools and an int8."""

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


BESIDE_BOOLS = {
    "x + n": True,
    "x * n": True,
    "x[0, 0] + n": True,
    "np.where(x, y, n)": False,
    "np.where(x, x, n)": True,
    "x + (n + 1)": True,
    "x == n": False,
    "y[:n] + x": False,
    "y + n": False,
    "(x + 1.5) * n": False,
}


@pytest.mark.parametrize("result", BESIDE_BOOLS)
def test_which_numbers_decide_a_dtype(result: str) -> None:
    """Bools and a number of int8 make an int8, bools and True a bool."""
    source = f"import numpy as np\n\ndef f(x, y, n):\n    return {result}, y * 2\n"
    signature = "boolean[:, :], int64[:, :], int64"
    made = convert_function(SourceModule(source, "f.py").functions[0], signature)
    assert made.program.parameters[2].beside_bools is BESIDE_BOOLS[result]
