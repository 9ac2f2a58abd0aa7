"""A range that begins at an argument begins at 0 or later, where its variable is a position."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.schedule.nodes import Launch, items_of
from porter.sizes.polynomial import Integer, Poly
from porter.source.module import SourceModule

#: the loop and what is in it -> kernels, and whether the host tests where it begins
LOOPS = {
    "for i in range(p, n):\n        out[i] = x[i]": (1, True),
    "for i in range(p - 1, n):\n        out[i] = x[i - p + 1]": (1, True),
    "for i in range(n - 1, p, -1):\n        out[i] = x[i]": (2, True),
    "for i in range(p, n):\n        out[i - p] = x[i - p]": (2, False),
    "for i in range(3, n):\n        out[i] = x[i]": (1, False),
    "for i in range(p, n):\n        out[i] = x[i - 1] + x[i - 3]": (1, True),
    # the condition keeps what is before the first one from being read
    "for i in range(p, n):\n        out[i] = x[i - 1] if i > 0 else 0.0": (1, True),
    "for i in range(p, n):\n        if i > 0:\n            out[i - 1] = x[i]": (2, True),
    # meant to begin below 0
    "for i in range(-p, p + 1):\n        out += x[i + n - 1]": (1, False),
    "for i in range(p * p, n):\n        out[i] = x[i]": (1, True),
    "for i in range(n - p, n):\n        out[i] = x[i]": (3, False),
    # nothing counts from the end
    "for i in range(p, n):\n        out += x * i": (1, False),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_kernels_and_tests(loop: str) -> None:
    source = (
        "import numpy as np\n\ndef f(x, p):\n    n = len(x)\n    out = np.zeros(n)\n"
        f"    {loop}\n    return out\n"
    )
    function = SourceModule(source, "f.py").functions[0]
    found = plan(convert_function(function, "float64[:], int64").program)
    kernels = sum(isinstance(i, Launch) for i in items_of(found.items))
    tested = any("below 0" in c.message for c in found.checks)
    assert (kernels, tested) == LOOPS[loop]


@pytest.mark.parametrize(
    ("body", "least"),
    [("out[i] = x[i]", 0), ("out[i] = x[i - 1] + x[i - 3]", -3), ("out[i + 1] = x[i]", 0),
     ("out[i] = x[i - 2] if i > 1 else x[i]", 0), ("if x[i - 1] > 0:\n            out[i] = 1", -1)],
)  # fmt: skip
def test_the_first_position(body: str, least: int) -> None:
    source = (
        "import numpy as np\n\ndef f(x, p):\n    n = len(x)\n    out = np.zeros(n)\n"
        f"    for i in range(p, n):\n        {body}\n    return out\n"
    )
    function = SourceModule(source, "f.py").functions[0]
    checks = plan(convert_function(function, "float64[:], int64").program).checks
    (found,) = (c for c in checks if "below 0" in c.message)
    assert (found.right - Poly.atom(Integer("p"))).constant == least
