"""Subscripts that are read from arrays of integers without a sign."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule

SOURCE = """
import numpy as np

def f(p, x):
    y = np.zeros(p.shape[0] - 1)
    for i in range(p.shape[0] - 1):
        y[i] = x[p[i] : p[i + 1]].sum()
    return y
"""


def kernel(dtype: str) -> str:
    function = SourceModule(SOURCE, "f.py").functions[0]
    return convert_function(function, f"{dtype}[:], float64[:]").text.parts[0]


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64"])
def test_a_difference_may_be_negative(dtype: str) -> None:
    """As the end of a slice before its start, which is empty: else the loop runs for ages."""
    text = kernel(dtype)
    assert "- np.int64(p[i])" in text and "np.int64(p[i]) + j" in text


def test_all_widths_have_one_text() -> None:
    texts = {kernel(dtype) for dtype in ("uint8", "uint16", "uint32", "uint64")}
    assert len(texts) == 1
    assert "np.int64(p[i + 1]) if np.int64(p[i + 1]) < x.shape[0]" in texts.pop()
