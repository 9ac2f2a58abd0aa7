"""Results of some of the arguments: they have the shape of those, whatever the others are."""

from __future__ import annotations

import pytest

from porter.convert.function import Converted, convert_function
from porter.source.module import SourceModule
from tests.convert.calls_child import differences

XY = "float64[:], float64[:]"


def source(body: str, parameters: str) -> str:
    return f"import numpy as np\n\ndef f({parameters}):\n    {body}\n"


def converted(body: str, signature: str, parameters: str) -> Converted:
    (function,) = SourceModule(source(body, parameters), "f.py").functions
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


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        # all arguments, and an array as large as one of them
        ("return -np.ones_like(x) + (x - y) * y", 0),
        ("return np.where(x > 0, np.full_like(y, 3.0), y) * x", 0),
        # what is made of the array that is stored into
        ("x += y\n    return x * 2.0", 0),
        ("z = x * 2.0\n    x += y\n    return z, x", 0),
        # an array as large as one that the result is not computed from, and one of each
        ("return np.zeros_like(x) + y", 1),
        ("return np.zeros_like(x), x + y", 1),
        ("x += y\n    return x * 2.0, y * 2.0", 1),
    ],
)
def test_shapes_that_broadcast(body: str, refused: int) -> None:
    found = differences("shapes", body)
    refusal = "raises ValueError: operands could not be broadcast"
    assert all(not said or said.startswith(refusal) for _, said in found), found
    assert any(said for _, said in found) == bool(refused)
