"""Selections by a truth value: the positions where it holds, or the elements there."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.scalars import choose, integer, operate
from porter.lowering.arrays.calculus import index_value, normal_axis
from porter.lowering.arrays.picking import positions
from porter.lowering.arrays.rearrange import reshape
from porter.lowering.arrays.subscripts import index_array
from porter.lowering.functions.reductions import as_bool
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Slice, Value
from porter.sizes.polynomial import Poly

_FULL = Slice(None, None, None)


def _truth(call: Call, name: str) -> Array:
    array = call.array(name)
    if not array.ndim:
        raise call.refuse("PRT903", f"`{call.name}` is applied to a scalar")

    return Array(array.shape, BOOL, lambda idx: as_bool(array.at(idx)))


@function("numpy.nonzero", "a")
def _nonzero(call: Call) -> Value:
    """The subscripts of what is not zero, one array for each axis."""
    return tuple(positions(call.b, _truth(call, "a")))


@function("numpy.flatnonzero", "a")
def _flatnonzero(call: Call) -> Value:
    return positions(call.b, reshape(call.b, _truth(call, "a"), (Poly.of(-1),)))[0]


@function("numpy.argwhere", "a")
def _argwhere(call: Call) -> Value:
    """A row of subscripts for each element that is not zero."""
    mask = _truth(call, "a")

    def at(idx: Sequence[Poly]) -> ir.Expr:
        result = index_value(idx[mask.ndim - 1])
        for d in reversed(range(mask.ndim - 1)):
            here = operate("eq", index_value(idx[-1]), integer(d))
            result = choose(here, index_value(idx[d]), result)
        return result

    shape = (*mask.shape, Poly.of(mask.ndim))
    return Array(shape, INT64, at, None, lambda idx: mask.at(list(idx)[: mask.ndim]), mask.ndim)


@function("numpy.compress", "condition a axis=None")
def _compress(call: Call) -> Value:
    mask, array = _truth(call, "condition"), call.array("a")
    if call.value("axis") is NONE:
        array, axis = reshape(call.b, array, (Poly.of(-1),)), 0
    else:
        axis = normal_axis(call.b, int(call.constant("axis")), array.ndim, "`compress`")
    return index_array(call.b, array, [*[_FULL] * axis, *positions(call.b, mask)])


@function("numpy.extract", "condition arr")
def _extract(call: Call) -> Value:
    flat = (Poly.of(-1),)
    mask, array = reshape(call.b, _truth(call, "condition"), flat), call.array("arr")
    return index_array(call.b, reshape(call.b, array, flat), positions(call.b, mask))
