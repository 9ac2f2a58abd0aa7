"""Arrays taken apart into a known number of pieces: views, as NumPy's."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from porter import ir
from porter.ir.scalars import constant_of
from porter.lowering.arrays.calculus import normal_axis
from porter.lowering.arrays.subscripts import index_array
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import Array, Slice, Value
from porter.sizes.polynomial import Poly, minimum


def _cut(call: Call, array: Array, axis: int, bounds: list[Poly | None]) -> Value:
    """The pieces between neighbouring bounds; None is the beginning and the end."""
    pieces = []
    for start, stop in pairwise(bounds):
        items: list[Any] = [Slice(None, None, None)] * axis + [Slice(start, stop, None)]
        pieces.append(index_array(call.b, array, items))
    return tuple(pieces)


def _split(call: Call, axis: int, equal: bool) -> Value:
    array, given = call.array("ary"), call.value("indices_or_sections")
    axis = normal_axis(call.b, axis, array.ndim, f"`{call.name}`")
    if isinstance(given, tuple):
        inner = [call.b.sizes.resolve(call.ev.size(v, call.node)) for v in given]
        return _cut(call, array, axis, [None, *inner, None])
    count = constant_of(given)
    if count is None:
        call.b.restarts.must_be_known(given)
    if not isinstance(count, int) or count < 1:
        raise call.refuse(
            "PRT906",
            f"the number of pieces of `{call.name}` is not known at conversion",
            "pass the number of pieces as a literal",
        )
    n = call.b.sizes.resolve(array.shape[axis])
    if equal:
        message = "array split does not result in an equal division"
        call.b.sizes.check(ir.Check("equal", n // count * count, n, message))
    # the first n % count pieces have one element more
    more = Poly() if equal else n % count
    starts = [n // count * k + minimum(more, k) for k in range(1, count)]
    return _cut(call, array, axis, [None, *starts, None])


@function("numpy.split", "ary indices_or_sections axis=0")
def _equal_split(call: Call) -> Value:
    return _split(call, int(call.constant("axis")), equal=True)


@function("numpy.array_split", "ary indices_or_sections axis=0")
def _array_split(call: Call) -> Value:
    return _split(call, int(call.constant("axis")), equal=False)


@function("numpy.vsplit", "ary indices_or_sections")
def _vsplit(call: Call) -> Value:
    return _split(call, 0, equal=True)


@function("numpy.hsplit", "ary indices_or_sections")
def _hsplit(call: Call) -> Value:
    return _split(call, 1 if call.array("ary").ndim > 1 else 0, equal=True)


@function("numpy.dsplit", "ary indices_or_sections")
def _dsplit(call: Call) -> Value:
    return _split(call, 2, equal=True)
