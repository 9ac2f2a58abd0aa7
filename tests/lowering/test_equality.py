"""Comparisons that are refused, each with a sentence and a cure."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.diagnostics import Refusal
from porter.source.module import SourceModule

REFUSED = [
    ("x in (x[::-1], 1.0)", "the truth value of an array is ambiguous"),
    ("'a' in x", "`in` is not supported for this value"),
    ("x == None", "`==` compares every element of this array"),
    ("x.dtype == x", "the dtype in this comparison is not known at conversion"),
    ("x.dtype.str == 'f'", "the attribute `.str` of a dtype is not supported"),
]


@pytest.mark.parametrize(("test", "message"), REFUSED)
def test_refused(test: str, message: str) -> None:
    text = f"def f(x):\n    for k in range(x.shape[0]):\n        x[k] = 2.0 if {test} else 1.0\n"
    module = SourceModule(text, "s.py")
    with pytest.raises(Refusal) as refused:
        convert_function(module.functions[0], "float64[:]")
    assert refused.value.diagnostic.message == message and refused.value.diagnostic.help
