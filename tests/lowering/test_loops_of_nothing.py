"""Sums that loops make are Python's number where no iteration runs, else of the array's dtype."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule

SUM = """
    s = 0.0
    for v in x:
        s += v
"""
SOME = """
    s = 0.0
    for v in x:
        if v > 0:
            s += v
"""
SKIPPED = """
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += v
"""
BOTH = """
    s = 0.0
    q = 0.0
    for v in x:
        s += v
    for v in y:
        q += v
"""
ROWS = """
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            s += x[i] * y[j]
"""


def host_of(body: str) -> str:
    text = f"import numpy as np\n\n\ndef f(x, y):\n{body}"
    made = convert_function(SourceModule(text, "t.py").by_name["f"])
    return made.text.parts[-1]


@pytest.mark.parametrize(
    ("body", "of_nothing"),
    [
        (f"{SUM}    return s\n", "return 0.0\n"),
        (f"{SUM}    return np.sqrt(s)\n", "return np.sqrt(0.0)\n"),
        (f"{SUM}    return s / len(x)\n", "return 0.0 / x.shape[0]\n"),
        (f"{SUM}    return (s / len(x)) ** 0.5\n", "return _math.sqrt(0.0 / x.shape[0])\n"),
        (f"{SUM}    return s, s * y\n", "return 0.0, 0.0 * given_y\n"),
        (f"{SUM}    m = np.sqrt(s)\n    return y * m\n", None),
        (f"{ROWS}    return s\n", "return 0.0\n"),
        (f"{SOME}    return s\n", None),
        (f"{SKIPPED}    return s\n", None),
        (f"{BOTH}    return s, q\n", None),
    ],
)
def test_float32_is_served_where_the_host_returns_what_nothing_adds_up_to(
    body: str, of_nothing: str | None
) -> None:
    host = host_of(body)
    assert ('"float32 float64"' in host) == (of_nothing is not None)
    assert of_nothing is None or f"        {of_nothing}" in host
