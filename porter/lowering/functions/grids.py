"""Grids of coordinates: meshgrid, mgrid, ogrid, indices, ix_."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porter.dtypes.dtype import INT64, DType
from porter.ir.scalars import cast
from porter.lowering.arrays.calculus import ONE, as_array, delayed, index_value
from porter.lowering.arrays.rearrange import flat
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.joining import stack
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly


def _spread(array: Array, d: int, shape: tuple[Poly, ...]) -> Array:
    """A 1-D array along axis d of a grid, the same along all others."""
    return delayed(array, lambda idx: array.at([idx[d]]), shape)


def _lying(array: Array, d: int, ndim: int) -> Array:
    """A 1-D array along axis d, the other axes being 1 long."""
    shape = tuple(array.shape[0] if a == d else ONE for a in range(ndim))
    return _spread(array, d, shape)


@function("numpy.meshgrid", "*arrays copy=True sparse=False indexing=xy")
def _meshgrid(call: Call) -> Value:
    arrays = [flat(call.b, as_array(call.ev.as_numeric(v, call.node)))
              for v in call.value("arrays")]  # fmt: skip
    arrays = [a if a.ndim else _lying(a, 0, 1) for a in arrays]
    order = list(range(len(arrays)))
    if call.constant("indexing") == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    place = {k: d for d, k in enumerate(order)}
    if call.constant("sparse"):
        return tuple(_lying(a, place[k], len(arrays)) for k, a in enumerate(arrays))
    shape = tuple(arrays[k].shape[0] for k in order)
    return tuple(_spread(a, place[k], shape) for k, a in enumerate(arrays))


def _counting(n: Poly, dtype: DType) -> Array:
    return Array((n,), dtype, lambda idx: cast(index_value(idx[0]), dtype))


def grid(call: Call, axes: Sequence[Array], sparse: bool) -> Value:
    """The coordinates of every point, one array per axis."""
    if sparse:
        return tuple(_lying(a, d, len(axes)) for d, a in enumerate(axes))
    shape = tuple(a.shape[0] for a in axes)
    return tuple(_spread(a, d, shape) for d, a in enumerate(axes))


@function("numpy.indices", "dimensions dtype=None sparse=False")
def _indices(call: Call) -> Value:
    dtype = call.dtype() or INT64
    axes = [_counting(n, dtype) for n in shape_of(call, call.value("dimensions"))]
    points = grid(call, axes, bool(call.constant("sparse")))
    return points if call.constant("sparse") else stacked(call, points)


def stacked(call: Call, points: Any) -> Array:
    """The coordinates along a new first axis."""
    return stack(call.b, list(points), 0)


@function("numpy.ix_", "*args")
def _ix(call: Call) -> Value:
    """One array per axis, each of its own length along its own axis."""
    arrays = [as_array(call.ev.as_numeric(v, call.node)) for v in call.value("args")]
    for a in arrays:
        if a.ndim != 1:
            raise call.refuse("PRT903", "`ix_` requires 1-D sequences")
        if a.dtype.kind == "b":
            raise call.refuse(
                "PRT906", "the shape of `ix_` of a mask depends on the data", "pass integer indices"
            )
    return tuple(_lying(a, d, len(arrays)) for d, a in enumerate(arrays))
