"""Inputs of other ranks, and with axes of size 1, beside those that the types say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Inputs, Parameter

#: axes that are cut to size 1, one at a time
MOST_AXES = 4
Change = Callable[[Any], Any]


def ranked(inputs: Inputs, parameters: list[Parameter]) -> Iterator[tuple[str, Inputs]]:
    """The arrays with leading axes more or less, and each axis of size 1, with what was done.

    Arrays of indices stay as they are: their elements are subscripts of the others.
    """
    arrays = [p.name for p in parameters if p.type.kind == "array" and not p.index]
    if not arrays:
        return
    yield "the arrays have one leading axis more", _changed(inputs, arrays, _stacked)
    yield (
        "the arrays have two leading axes more",
        _changed(inputs, arrays, lambda v: _stacked(_stacked(v))),
    )
    values = {a.name: a.value for a in inputs.arguments}
    if all(np.ndim(values[n]) > 1 and len(values[n]) for n in arrays):
        yield "the arrays have one axis less", _changed(inputs, arrays, lambda v: v[0])
    yield from islice(_thin(inputs, arrays, values), MOST_AXES)


def _thin(
    inputs: Inputs, arrays: list[str], values: dict[str, Any]
) -> Iterator[tuple[str, Inputs]]:
    for axis in range(max(np.ndim(values[n]) for n in arrays)):
        for name in arrays:
            if axis < np.ndim(values[name]) and values[name].shape[axis] > 1:
                label = f"`{name}` alone has size 1 along axis {axis}"
                yield label, _changed(inputs, [name], partial(_first, axis=axis))


def _first(value: Any, axis: int) -> Any:
    return value.take([0], axis)


def _stacked(value: Any) -> Any:
    """The array and the same elements in another order."""
    return np.stack([value, np.roll(value, 1)])


def _changed(inputs: Inputs, names: list[str], change: Change) -> Inputs:
    arguments = tuple(
        replace(a, value=change(a.value), layout="C") if a.name in names else a
        for a in inputs.arguments
    )
    return replace(inputs, arguments=arguments, form="host")
