"""A function of parts of arrays, called as NumPy calls a generalized ufunc.

The layout and the signatures are those of the source's decorator, which the header repeats.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

import numpy as np

from porter.dtypes.signatures import ArgType, parse_types
from porter.source.layout import Layout, layout

Array = np.ndarray[Any, Any]
Casting = Literal["equiv", "safe"]


class NotStoredError(Exception):
    """The original does not store into all of its results."""


@dataclass(frozen=True)
class PartTypes:
    """One signature with its layout: a line such as `(n),(n)->() float64[:], float64[:]`."""

    layout: Layout
    types: tuple[ArgType, ...]

    @classmethod
    def parse(cls, text: str) -> PartTypes:
        """Of such a line."""
        shape, _, types = text.partition(" ")
        found = layout(shape)
        assert found is not None, text
        return cls(found, parse_types(types))

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        """Of each array."""
        return [np.dtype(t.dtype) for t in self.types]

    def takes(self, given: Sequence[Array], casting: Casting) -> bool:
        """Whether NumPy casts the arguments to it."""
        return all(np.can_cast(v.dtype, d, casting)
                   for v, d in zip(given, self.dtypes, strict=False))  # fmt: skip


def per_part(function: Callable[..., Any], lines: Sequence[str]) -> Callable[..., Any]:
    """The function for whole arrays; `lines` are those of the module's header."""
    signatures = [PartTypes.parse(line) for line in lines]

    @wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        given = [np.asarray(v) for v in (*args, *keywords.values())]
        # NumPy takes the one of these dtypes, else the first one that loses nothing
        tries: tuple[Casting, ...] = ("equiv", "safe")
        own = next((s for c in tries for s in signatures if s.takes(given, c)), None)
        if own is None:
            dtypes = ", ".join(str(v.dtype) for v in given)
            raise TypeError(f"no signature for {dtypes}")
        return _called(function, own, given)

    # the arrays that it stores into are no parameters of what it is called by
    known = inspect.signature(function)
    inputs = list(known.parameters.values())[: signatures[0].layout.inputs]
    called.__signature__ = known.replace(parameters=inputs)  # type: ignore[attr-defined]
    return called


def _called(function: Callable[..., Any], own: PartTypes, given: Sequence[Array]) -> Any:
    """What one call stores into arrays that hold something else before."""
    shape, sizes = own.layout, _sizes(own.layout, given)
    ranks = [t.ndim if t.kind == "array" else 0 for t in own.types]
    outer = np.broadcast_shapes(
        *(v.shape[: v.ndim - len(core)] for v, core in zip(given, shape.arrays, strict=False))
    )
    arrays = [
        np.broadcast_to(v.astype(d), (*outer, *v.shape[v.ndim - len(core) :]))
        for v, core, d in zip(given, shape.arrays, own.dtypes, strict=False)
    ]
    made = [
        _poisoned((*outer, *(sizes[s] for s in core)), d)
        for core, d in zip(shape.results, own.dtypes[shape.inputs :], strict=True)
    ]
    # one that has no parameters for its results returns them
    stores = function.__code__.co_argcount > shape.inputs
    for index in np.ndindex(outer):
        inputs = [_part(a, index, c, r)
                  for a, c, r in zip(arrays, shape.arrays, ranks, strict=False)]  # fmt: skip
        outs = [_part(a, index, c, 1) for a, c in zip(made, shape.results, strict=True)]
        value = function(*inputs, *outs) if stores else function(*inputs)
        if value is not None:
            values = value if isinstance(value, tuple) else (value,)
            for out, v in zip(outs, values, strict=True):
                out[...] = v
    for m in made:
        _check_stored(m)
    results = tuple(m if m.shape else m[()] for m in made)
    return results if len(results) > 1 else results[0]


def _part(array: Array, index: tuple[int, ...], core: Sequence[str], rank: int) -> Any:
    """A number, or the array of the core dimensions; of none it is one of one element."""
    if core:
        return array[index]
    return array[index] if not rank else array[(*index, None)]


def _sizes(shape: Layout, given: Sequence[Array]) -> dict[str, int]:
    """The size of each symbol; all inputs must agree."""
    sizes: dict[str, int] = {}
    for v, core in zip(given, shape.arrays, strict=False):
        if v.ndim < len(core):
            raise ValueError(f"an array of {v.ndim} dimensions has no {len(core)} core dimensions")
        for symbol, n in zip(core, v.shape[v.ndim - len(core) :], strict=True):
            if sizes.setdefault(symbol, n) != n:
                raise ValueError(f"mismatch in the core dimension {symbol}: {n}, {sizes[symbol]}")
    return sizes


def _poisoned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of what no function computes: an element that is not stored is found."""
    return np.full(shape, np.frombuffer(bytes([0x55]) * dtype.itemsize, dtype)[0])


def _check_stored(made: Array) -> None:
    poison = _poisoned((), made.dtype)
    if made.dtype.kind != "b" and made.itemsize > 1 and bool(np.any(made == poison)):
        raise NotStoredError("an element of a result is left as it happened to be in memory")
