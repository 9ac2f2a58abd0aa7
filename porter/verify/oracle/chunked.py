"""Functions of Dask's arrays, called with arrays in chunks, on the scheduler of one thread.

Each case has its own way to cut arrays: into single elements, into chunks of a prime size, not at
all, and unevenly, along each axis in another way.  Dask is imported when it is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

#: how an axis is cut: sizes in turn, the last one again and again; 0 is all that is left
CUTS: Sequence[tuple[int, ...]] = ((1,), (5,), (0,), (1, 0), (3, 1, 2), (2, 7), (4, 1, 1, 0), (2,))
#: arrays that are handed over as NumPy has them: every so many cases
PLAIN = 9


class Chunkings:
    """Which chunks the arrays of the next call have: those of a case are always the same."""

    def __init__(self) -> None:
        self.number = 0
        #: an axis has no more chunks: each is a call, and a launch on a simulator
        self.most = 5

    def choose(self, number: int) -> None:
        """The chunks of a case."""
        self.number = number

    def chunks(self, shape: Sequence[int], place: int) -> tuple[tuple[int, ...], ...]:
        """The chunks of the argument at a place: each axis is cut in another way."""
        kinds = len(CUTS)
        # an argument beside another one is cut elsewhere in every second round
        start = self.number + place * ((self.number // kinds) % 2)
        return tuple(
            cut(n, CUTS[(start + 3 * axis) % kinds], self.most) for axis, n in enumerate(shape)
        )


CHUNKINGS = Chunkings()


def cut(length: int, sizes: Sequence[int], most: int) -> tuple[int, ...]:
    """An axis in chunks of these sizes; the last one of so many at most has what is left."""
    found: list[int] = []
    left = length
    while left > 0 or not found:
        size = sizes[min(len(found), len(sizes) - 1)] if len(found) + 1 < most else 0
        found.append(min(size or left, left))
        left -= found[-1]
    return tuple(found)


def in_chunks(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for NumPy's arrays: they are cut, and what is lazy is computed."""
    # an optional package, which only these modules need
    da, compute = import_module("dask.array"), import_module("dask").compute

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        plain = CHUNKINGS.number % PLAIN == PLAIN - 1

        def given(place: int, value: Any) -> Any:
            if not isinstance(value, np.ndarray) or not value.ndim:
                return value
            return da.from_array(value, CHUNKINGS.chunks(value.shape, place), name=False)

        made = [given(k, v) for k, v in enumerate(args)]
        named = {n: given(len(args) + k, v) for k, (n, v) in enumerate(options.items())}
        result = function(*made, **named)
        pairs = zip([*made, *named.values()], [*args, *options.values()], strict=True)
        for own, value in pairs:
            if own is result and isinstance(own, da.Array):
                return value
        if plain:
            result = function(*args, **options)
        eager = isinstance(result, np.ndarray) or (
            isinstance(result, (tuple, list)) and any(isinstance(r, np.ndarray) for r in result)
        )
        if eager:
            raise TypeError("the result is an array of NumPy, not a lazy one of Dask")
        (found,) = compute(result, scheduler="synchronous")
        return _numbers(found)

    return called


def _numbers(found: Any) -> Any:
    """Arrays of no dimensions as the numbers that NumPy returns."""
    if isinstance(found, (tuple, list)):
        return type(found)(map(_numbers, found))
    return found[()] if isinstance(found, np.ndarray) and not found.ndim else found
