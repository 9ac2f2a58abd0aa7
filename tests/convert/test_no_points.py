"""Functions that store into what they computed: of numbers NumPy makes no arrays to store into."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.source.module import SourceModule


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("z = x * 2\n    z[z > 3] = 3\n    return z", True),
        ("z = np.exp(x)\n    np.sqrt(z, out=z)\n    return z", True),
        ("z = x * 2\n    z[...] = 1.0\n    return z", True),
        # an array of no dimensions, too, can be stored into
        ("z = np.zeros_like(x)\n    z[x > 3] = 3\n    return z", False),
        ("z = x.copy()\n    z[z > 3] = 3\n    return z", False),
        ("z = np.where(x > 1, x, 0.0)\n    z[z > 3] = 3\n    return z", False),
        ("x[x > 3] = 3\n    return x", False),
        # the name gets another number
        ("z = x * 2\n    z += 1\n    return z", False),
    ],
)
def test_arrays_of_no_dimensions(body: str, refused: bool) -> None:
    text = f"import numpy as np\n\ndef f(x):\n    {body}\n"
    (function,) = SourceModule(text, "f.py").functions
    made = convert_function(function, "float64[:]")
    text = "".join(part for one in made.texts for part in one.parts)
    assert ("if not shape:" in text) is refused
