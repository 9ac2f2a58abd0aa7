"""Stages over one domain share a kernel, also where others that are apart from them lie between."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule

#: what is done with x and y of n elements and with the table t -> kernels
BODIES = {
    # two stores of n elements with one of the table between them
    "a = x * 2; t[:] = t + 1; b = y * x; return a, b": 2,
    # what lies between stores what the later one reads, or reads what it stores
    "a = x * 2; t[:] = t + a[0]; x[:] = t[0, 0]; return a, x": 3,
    "a = x * 2; t[:] = t + 1; b = y * t[0, 0]; return a, b": 3,
    "a = x * 2; t[:] = t + y[0]; y[:] = a; return a, y": 3,
    # and a third one beside it
    "a = x * 2; t[:] = t + 1; b = y * x; t[:] = t * b[0]; c = y + x; return a, b, c": 2,
    # of zeros that others are added to, both are stored at once, and the positions of b with a
    "a = np.zeros(9); a[k] += x; b = np.zeros(9); b[k] += y; return a, b": 4,
}


def launches(body: str) -> int:
    lines = "".join(f"    {line.strip()}\n" for line in body.split(";"))
    source = f"import numpy as np\n\ndef f(x, y, k, t):\n{lines}"
    function = SourceModule(source, "f.py").functions[0]
    signature = "float64[:], float64[:], int64[:], float64[:, :]"
    found = plan(convert_function(function, signature).program)
    return sum(isinstance(i, Launch) for i in items_of(found.items))


@pytest.mark.parametrize("body", BODIES)
def test_launches(body: str) -> None:
    assert launches(body) == BODIES[body]
