"""What host functions make once, before their loops."""

from __future__ import annotations

import re

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule

#: each with the indentation of the lines that allocate partial results, in order
BODIES = {
    "one size": ([1], """
    for _ in range(n):
        x = x / (1.0 + np.sum(x * x))
    return x
"""),
    "the same size in two loops, one inside the other": ([1], """
    for _ in range(n):
        for _ in range(n):
            x = x / (1.0 + np.sum(x))
        x = x + np.max(x)
    return x
"""),
    "a size that the outer loop changes": ([2, 1], """
    total = np.zeros(n)
    for k in range(1, n):
        y = x[:k] * 0.5
        for _ in range(n):
            y = y + np.sum(y[:, None] * x)
        total[k] = np.sum(x * x) + total[k - 1]
        x = x + total[k]
    return total
"""),
    "before a loop and in it": ([1, 1], """
    rho = np.sum(x)
    for _ in range(n):
        x = x - rho
        rho = np.sum(x)
    return x
"""),
}  # fmt: skip


@pytest.mark.parametrize("what", BODIES)
def test_partial_results_are_allocated_before_the_loop(what: str) -> None:
    depths, body = BODIES[what]
    text = f"import numpy as np\n\n\ndef f(x, n: int):{body}"
    (function,) = SourceModule(text, "t.py").functions
    host = convert_function(function, "float64[:], int64").text.parts[-1]
    found = re.findall(r'^( +)partial\w* = _workspace\("\w+", (\w+),', host, re.M)
    assert sorted(len(indent) // 4 for indent, _ in found) == sorted(depths), host
    for _, parts in found:
        assert re.search(rf"^ +{parts}(, \w+)* = (min\(max\(_blocks|_parts)\(", host, re.M), host
