"""Axes of size 1 inside of a function: one kernel, and strides that the host sets."""

from __future__ import annotations

import numpy as np

from porter import ir
from porter.convert.function import Converted, convert_function
from porter.ir.interp import run
from porter.source.module import SourceModule
from tests.corpus.check import compare

QUATERNION = """
import numpy as np

def f(q, r):
    w = q[..., 3:] * r[..., 3:] - np.sum(q[..., :3] * r[..., :3], axis=-1, keepdims=True)
    v = q[..., 3:] * r[..., :3] + r[..., 3:] * q[..., :3] + np.cross(q[..., :3], r[..., :3])
    return np.concatenate([v, w], axis=-1)
"""
STANDS_ALONE = """
import numpy as np

def f(x, y):
    return (x - x.sum(axis=0)) * y, y.sum(axis=0)
"""


def converted(source: str, signature: str) -> Converted:
    return convert_function(SourceModule(source, "f.py").functions[0], signature)


def differs(made: Converted, source: str, shapes: list[tuple[int, ...]]) -> str:
    scope: dict[str, object] = {}
    exec(source, scope)
    rng = np.random.default_rng(0)
    arguments = tuple(rng.random(s) for s in shapes)
    return compare(scope["f"], lambda *a: run(made.program, a), arguments)  # type: ignore[arg-type]


def lets(made: Converted) -> list[str]:
    return [s.name for s in made.program.body if isinstance(s, ir.Let)]


def test_a_slice_of_length_1_meets_longer_ones() -> None:
    made = converted(QUATERNION, "float64[:, :], float64[:, :]")
    assert lets(made) == ["step"]
    for m in (4, 6):
        assert differs(made, QUATERNION, [(5, m), (5, m)]) == ""
    # NumPy raises, and so does the host
    for m in (2, 3, 5, 7):
        assert differs(made, QUATERNION, [(5, m), (5, m)]) == ""


def test_the_length_that_the_host_tests_is_a_number_in_the_kernels() -> None:
    made = converted(QUATERNION, "float64[:, :], float64[:, :]")
    assert "range(3)" in "".join(made.text.parts[:-1])


def test_a_slice_beside_a_whole_array_needs_no_stride() -> None:
    source = "def f(x, y):\n    return x[1:] * y[1:] - x[:-1]\n"
    assert lets(converted(source, "float64[:], float64[:]")) == []


def test_an_array_that_stands_alone_is_broadcast_either_way() -> None:
    made = converted(STANDS_ALONE, "float64[:, :], float64[:, :]")
    for shapes in ([(5, 3), (5, 3)], [(5, 3), (1, 3)], [(1, 3), (5, 3)], [(5, 1), (5, 3)],
                   [(5, 3), (5, 1)], [(1, 1), (5, 3)], [(0, 3), (1, 3)], [(5, 3), (4, 3)],
                   [(5, 2), (5, 3)]):  # fmt: skip
        assert differs(made, STANDS_ALONE, shapes) == "", shapes


def test_a_value_of_length_1_is_stored_along_an_axis() -> None:
    source = "def f(x, y):\n    x[...] = y - y.sum()\n"
    made = converted(source, "float64[:], float64[:]")
    for shapes in ([(5,), (5,)], [(5,), (1,)], [(1,), (1,)], [(5,), (4,)], [(1,), (5,)]):
        assert differs(made, source, shapes) == "", shapes


def test_what_is_stored_into_has_the_whole_length() -> None:
    source = (
        "def f(x, y):\n    y[1:] -= 0.5 * (x[1:] - x[:-1])\n    x[:-1] += y[1:]\n    return x\n"
    )
    assert lets(converted(source, "float64[:], float64[:]")) == []
