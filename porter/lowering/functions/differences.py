"""Differences and sums of neighbours along an axis: diff, gradient, trapezoid, convolve."""

from __future__ import annotations

from typing import Any

from porter.dtypes.dtype import strengthen
from porter.ir.scalars import number
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    as_array,
    astype,
    delayed,
    elementwise,
    normal_axis,
    reduce,
)
from porter.lowering.arrays.rearrange import flat, settled
from porter.lowering.arrays.stores import same_kind
from porter.lowering.arrays.subscripts import index
from porter.lowering.functions.joining import join
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Slice, Value
from porter.sizes.polynomial import Poly


def part(call: Call, array: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """`array[start:stop]` along an axis."""
    bounds = [None if k is None else Poly.of(k) for k in (start, stop)]
    items: list[Any] = [Slice(None, None, None)] * axis + [Slice(bounds[0], bounds[1], None)]
    return as_array(index(call.b, array, items))


def gaps_of(call: Call, array: Array, axis: int) -> Array:
    """`array[1:] - array[:-1]` along an axis."""
    upper, lower = part(call, array, axis, 1, None), part(call, array, axis, None, -1)
    return as_array(elementwise(call.b, "ne" if array.dtype.kind == "b" else "sub", upper, lower))


@function("numpy.diff", "a n=1 axis=-1 prepend=None append=None")
def _diff(call: Call) -> Value:
    array = settled(call.b, call.array("a"))
    axis = normal_axis(call.b, int(call.constant("axis")), array.ndim, "`diff`")
    pieces = [array]
    for name, at in (("prepend", 0), ("append", len(pieces))):
        if call.value(name) is not NONE:
            pieces.insert(at, _border(call, array, axis, call.array(name)))
            array = join(call.b, pieces, axis, "`diff`")
            pieces = [array]
    for _ in range(int(call.constant("n"))):
        array = gaps_of(call, array, axis)
    return array


def _border(call: Call, array: Array, axis: int, value: Array) -> Array:
    """A number as one more position along the axis; an array as it is."""
    if value.ndim:
        return value
    shape = (*array.shape[:axis], ONE, *array.shape[axis + 1 :])
    return Array(shape, value.dtype, lambda _: value.at(()))


@function("numpy.ediff1d", "ary to_end=None to_begin=None")
def _ediff1d(call: Call) -> Value:
    array = flat(call.b, settled(call.b, call.array("ary")))
    pieces = [gaps_of(call, array, 0)]
    for name, at in (("to_begin", 0), ("to_end", len(pieces))):
        if call.value(name) is not NONE:
            end = call.array(name)
            if not same_kind(array, end):
                raise call.refuse(
                    "PRT907",
                    f"the `{name}` of `ediff1d` has the incompatible dtype {end.dtype.name}",
                )
            end = flat(call.b, end) if end.ndim else _border(call, array, 0, end)
            pieces.insert(at if at == 0 else len(pieces), as_array(astype(end, array.dtype)))
    return join(call.b, pieces, 0, "`ediff1d`") if len(pieces) > 1 else pieces[0]


@function("numpy.trapezoid numpy.trapz", "y x=None dx=1 axis=-1")
def _trapezoid(call: Call) -> Value:
    """The sum of distance * (y[k + 1] + y[k]) / 2."""
    y = settled(call.b, call.array("y"))
    axis = normal_axis(call.b, int(call.constant("axis")), y.ndim, "`trapezoid`")
    distance: Operand
    if call.value("x") is NONE:
        distance = number(1.0) if call.value("dx") == 1 else call.operand("dx")
    else:
        distance = _distances(call, y, axis)
    upper, lower = part(call, y, axis, 1, None), part(call, y, axis, None, -1)
    total = elementwise(call.b, "mul", distance, elementwise(call.b, "add", upper, lower))
    area = as_array(elementwise(call.b, "truediv", total, number(2.0)))
    return reduce(call.b, "sum", area, [axis], False, strengthen(area.dtype))


def _distances(call: Call, y: Array, axis: int) -> Operand:
    x = settled(call.b, call.array("x"))
    own = 0 if x.ndim == 1 else normal_axis(call.b, axis, x.ndim, "`trapezoid`")
    call.b.sizes.unify(x.shape[own], y.shape[axis], "`trapezoid`")
    gaps = as_array(
        elementwise(call.b, "sub", part(call, x, own, 1, None), part(call, x, own, None, -1))
    )
    if x.ndim != 1:
        return gaps
    shape = tuple(gaps.shape[0] if d == axis else ONE for d in range(y.ndim))
    return delayed(gaps, lambda idx: gaps.at([idx[axis]]), shape)
