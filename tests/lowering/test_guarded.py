"""Tests of arguments wait for the condition under which Python reads an element."""

from __future__ import annotations

import time

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule


def host_of(body: str, *, before: str = "") -> str:
    text = f"import numpy as np\n\n\n{before}\n\ndef f(x, y, k):\n{body}"
    function = SourceModule(text, "t.py").by_name["f"]
    made = convert_function(function, "float64[:], float64[:], int64")
    return made.text.parts[-1]


@pytest.mark.parametrize(
    "value",
    [
        "x[1] if len(x) > 1 else y[k] * 0",
        "x[-2] * 2 if not len(x) < 2 else y[k]",
        "x[1] if len(x) > 1 and x[1] > 0 else y[k]",
        "y[k] if len(x) < 2 or x[1] < 0 else x[1]",
        "x[1] if not (len(x) < 2 or k > 3) else y[k]",
    ],
)
def test_an_element_is_tested_where_it_is_read(value: str) -> None:
    host = host_of(f"    return y * ({value})\n")
    test = [line for line in host.splitlines() if "x.shape[0] < 2" in line]
    assert not test or all(" and " in line for line in test), test


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("y * (np.sum(x[1] * y) if len(x) > 1 else np.sum(y))", "if x.shape[0] < 2:"),
        ("y * (np.sum(x * y) if len(x) == len(y) else np.sum(y))", "if y.shape[0] != x.shape[0]:"),
    ],
)
def test_what_is_computed_in_any_case_is_tested_in_any_case(value: str, test: str) -> None:
    """Both sums are: without the test, threads would read beyond an array."""
    host = " ".join(host_of(f"    return {value}\n").split())
    assert test in host


def test_many_returns_take_no_time() -> None:
    """A part that has to be evaluated again does not double the time of each around it."""
    returns = "".join(f"    if len(v) < {n}:\n        return v.sum() * {n}\n" for n in range(14))
    start = time.monotonic()
    host_of("    return y * g(x)\n", before=f"def g(v):\n{returns}    return v[0]\n")
    assert time.monotonic() - start < 20
