"""Inputs made from other inputs: moved in their last place, widened, or made wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from porter.verify.inputs.arguments import Argument, Inputs, Parameter
from porter.verify.inputs.shapes import symbols

#: so many lengths of axes are tried as indices
MOST_LENGTHS = 4
_WIDER: dict[str, Any] = {
    "float16": np.float64,
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
}


def widened(inputs: Inputs) -> Inputs:
    """The same numbers in the next wider type (long double, where that is wider, for float64)."""
    return replace(inputs, arguments=tuple(_widen(a) for a in inputs.arguments))


def _widen(argument: Argument) -> Argument:
    value = argument.value
    if isinstance(value, (np.ndarray, np.generic)) and str(value.dtype) in _WIDER:
        wider = _WIDER[str(value.dtype)]
        value = value.astype(wider) if isinstance(value, np.ndarray) else wider(value)
    return replace(argument, value=value)


def nudged(inputs: Inputs, rng: np.random.Generator) -> Inputs:
    """Every non-zero real element moved to one of its two neighbours."""
    return replace(inputs, arguments=tuple(_nudge(a, rng) for a in inputs.arguments))


def _nudge(argument: Argument, rng: np.random.Generator) -> Argument:
    value = argument.value
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return argument
    if value.dtype.kind == "c":
        moved = np.empty_like(value)
        moved.real, moved.imag = _neighbour(value.real, rng), _neighbour(value.imag, rng)
        return replace(argument, value=moved)
    return replace(argument, value=_neighbour(value, rng))


def _neighbour(value: Any, rng: np.random.Generator) -> Any:
    target = np.where(rng.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return np.where((value == 0) | ~np.isfinite(value), value, np.nextafter(value, target))


def wrong(inputs: Inputs, parameters: list[Parameter]) -> Iterator[tuple[str, Inputs]]:
    """Inputs that no longer fit together, each with what is wrong with it.

    NumPy may still take some of them (by broadcasting, for instance).
    """
    arrays = [p for p in parameters if p.type.kind == "array"]
    if not arrays:
        return
    first = arrays[0]
    yield f"`{first.name}` has one axis more", _replaced(inputs, first, lambda v: v[None])
    if first.type.ndim > 1:
        yield f"`{first.name}` has one axis less", _replaced(inputs, first, lambda v: v[0])
    for parameter, axis in _shared_axes(arrays):
        yield (
            f"`{parameter.name}` is longer along axis {axis}",
            _replaced(inputs, parameter, lambda v, a=axis: np.concatenate([v, v], a)),
        )
        yield (
            f"`{parameter.name}` has size 1 along axis {axis}",
            _replaced(inputs, parameter, lambda v, a=axis: v.take([0], a)),
        )
    if first.type.letter == "f":
        yield f"`{first.name}` is complex", _replaced(inputs, first, lambda v: v + 0j)
    yield f"`{first.name}` is None", _replaced(inputs, first, lambda v: None)


def beyond(inputs: Inputs, parameters: list[Parameter]) -> Iterator[tuple[str, Inputs]]:
    """Indices that are just too large, or too small, for an axis of some array, or for a count,
    and the smallest that are not.

    Which axis an index belongs to is not known: NumPy tells whether it raises.
    """
    values = [a.value for a in inputs.arguments if isinstance(a.value, np.ndarray)]
    numbers = {a.value for a in inputs.arguments if type(a.value) is int and a.value > 0}
    lengths = sorted(numbers | {n for v in values for n in v.shape if n})[:MOST_LENGTHS]
    for p in parameters:
        if not p.index or p.type.kind != "array" or p.type.letter not in "iu":
            continue
        info = np.iinfo(p.type.dtype)
        ends = [end for n in lengths for end in (n, -n - 1, -n) if info.min <= end <= info.max]
        for end in dict.fromkeys(ends):
            yield (
                f"`{p.name}` holds {end}",
                _replaced(inputs, p, lambda v, e=end: np.full_like(v, e)),
            )


def _shared_axes(arrays: list[Parameter]) -> Iterator[tuple[Parameter, int]]:
    """The last array parameter's axes whose dimension another array shares, at most two."""
    last = arrays[-1]
    others = set(symbols(e for p in arrays[:-1] for e in p.dims))
    shared = [axis for axis, e in enumerate(last.dims) if set(symbols([e])) & others]
    yield from ((last, axis) for axis in shared[:2])


def _replaced(inputs: Inputs, parameter: Parameter, change: Any) -> Inputs:
    arguments = tuple(
        replace(a, value=change(a.value), layout="C") if a.name == parameter.name else a
        for a in inputs.arguments
    )
    return replace(inputs, arguments=arguments, form="host")
