"""Results of some of the arguments: they have the shape of those, whatever the others are."""

from __future__ import annotations

import pytest

from porter.convert.function import Converted, convert_function
from porter.source.module import SourceModule

XY = "float64[:], float64[:]"


def converted(body: str, signature: str, parameters: str) -> Converted:
    text = f"import numpy as np\n\ndef f({parameters}):\n    {body}\n"
    (function,) = SourceModule(text, "f.py").functions
    return convert_function(function, signature)


@pytest.mark.parametrize(
    ("body", "shapes"),
    [
        ("return x + y, x * 2.0", [("x", "y"), ("x",)]),
        ("a = np.sin(x)\n    return a, a + y, y > 0", [("x",), ("x", "y"), ("y",)]),
        # of all arguments
        ("return x + y, x * y", []),
        # not just an expression: a result that is stored into, one of two ways
        ("a = x * 2.0\n    a[y > 0] = 1.0\n    return a, y * 2.0", []),
        ("x[:] = y\n    return x * 2.0, y * 2.0", []),
        ("a = x * 2.0\n    for k in range(3):\n        a = a + y\n    return a", []),
    ],
)
def test_what_a_result_has_the_shape_of(body: str, shapes: list[tuple[str, ...]]) -> None:
    found = converted(body, XY, "x, y")
    assert list(found.plan.own_shapes.values()) == shapes
    assert bool(found.plan.numbers.alone) == bool(shapes)


def test_the_host_keeps_these_shapes() -> None:
    floats = converted("return x + y, x * 2.0", XY, "x, y").variants[0]
    text = "\n".join(floats.text.parts)
    assert "shape = np.broadcast_shapes(x.shape, y.shape)" in text
    assert "shape_x = x.shape" in text and "own=shape_x" in text
    assert text.count("own=") == 1
