"""Inputs of other ranks that verification tries."""

from __future__ import annotations

import numpy as np

from porter.dtypes.signatures import parse_types
from porter.verify.checks.ranks import ranked
from porter.verify.inputs.arguments import Argument, Inputs, Parameter

MATRIX, VECTOR, NUMBER = parse_types("float64[:, :], float64[:], float64")


def shapes(*of: tuple[int, ...]) -> dict[str, list[tuple[int, ...]]]:
    names = "xyz"[: len(of)]
    parameters = [
        Parameter(n, MATRIX if len(s) == 2 else VECTOR) for n, s in zip(names, of, strict=True)
    ]
    arguments = [
        Argument(n, np.arange(np.prod(s)).reshape(s)) for n, s in zip(names, of, strict=True)
    ]
    inputs = Inputs((*arguments, Argument("a", 2.0)))
    tried = ranked(inputs, [*parameters, Parameter("a", NUMBER)])
    return {label: [np.shape(a.value) for a in i.arguments[:-1]] for label, i in tried}


def test_arrays_are_raised_and_lowered_together() -> None:
    found = shapes((4, 3), (4, 3))
    assert found["the arrays have one leading axis more"] == [(2, 4, 3), (2, 4, 3)]
    assert found["the arrays have two leading axes more"] == [(2, 2, 4, 3), (2, 2, 4, 3)]
    assert found["the arrays have one axis less"] == [(3,), (3,)]


def test_no_array_becomes_a_number() -> None:
    assert "the arrays have one axis less" not in shapes((4, 3), (3,))
    assert "the arrays have one axis less" not in shapes((0, 3))


def test_each_axis_is_1_alone() -> None:
    found = shapes((4, 3), (3,))
    assert found["`x` alone has size 1 along axis 0"] == [(1, 3), (3,)]
    assert found["`y` alone has size 1 along axis 0"] == [(4, 3), (1,)]
    assert found["`x` alone has size 1 along axis 1"] == [(4, 1), (3,)]
