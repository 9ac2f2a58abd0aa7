"""Inputs cut to smaller sizes, dimensions that belong together cut alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.shapes import evaluate, symbols


def sizes_of(inputs: Inputs, parameters: Sequence[Parameter]) -> dict[str, int] | None:
    """The extent of every dimension that the arrays show; None if they contradict each other."""
    found: dict[str, int] = {}
    shapes = [(p.dims, np.shape(a.value)) for p, a in _arrays(inputs, parameters)]
    for dims, shape in shapes:
        if len(dims) != len(shape):
            return None
        for entry, size in zip(dims, shape, strict=True):
            if entry.isidentifier() and found.setdefault(entry, size) != size:
                return None
    for dims, shape in shapes:
        for entry, size in zip(dims, shape, strict=True):
            if not set(symbols([entry])) <= found.keys() or evaluate(entry, found) != size:
                return None
    return found


def resized(
    inputs: Inputs, parameters: Sequence[Parameter], sizes: dict[str, int], *, last: bool = False
) -> Inputs | None:
    """The leading part of every array, or the last, as large as `sizes` says.

    None where an array is not that large.

    Integers that are the size of a dimension of their name become its new size.
    """
    made: list[Argument] = []
    dims = {p.name: p.dims for p in parameters}
    for argument in inputs.arguments:
        value: Any = argument.value
        if isinstance(value, np.ndarray):
            shape = [evaluate(e, sizes) for e in dims[argument.name]]
            if any(n < 0 or n > m for n, m in zip(shape, value.shape, strict=True)):
                return None
            starts = [m - n if last else 0 for n, m in zip(shape, value.shape, strict=True)]
            part = tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))
            value = value[part].copy()
        elif argument.name in sizes and value == inputs.sizes.get(argument.name):
            value = type(value)(sizes[argument.name])
        made.append(replace(argument, value=value))
    return replace(inputs, arguments=tuple(made), sizes=dict(sizes))


def _arrays(inputs: Inputs, parameters: Sequence[Parameter]) -> list[tuple[Parameter, Argument]]:
    known = {p.name: p for p in parameters}
    return [(known[a.name], a) for a in inputs.arguments if isinstance(a.value, np.ndarray)]
