"""Making arrays: zeros, full, arange, linspace, eye, copies and conversions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from porter import ir
from porter.dtypes.dtype import FLOAT64, DType, strengthen
from porter.ir.scalars import cast, choose, integer, number
from porter.lowering.arrays.calculus import (
    aligned,
    as_array,
    astype,
    broadcast_shape,
    full,
    index_value,
)
from porter.lowering.arrays.rearrange import raised
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly


def shape_of(call: Call, value: Any) -> tuple[Poly, ...]:
    """A shape argument: an integer or a tuple of them."""
    items = value if isinstance(value, tuple) else (value,)
    sizes = tuple(call.b.sizes.resolve(call.ev.extent(v, call.node)) for v in items)
    for n in sizes:
        if not n.is_nonneg() and n.constant != -1 and not call.b.scope.ranges:
            call.b.sizes.check(ir.Check("index", Poly(), n, "negative dimensions are not allowed"))
    return sizes


class Empty(Array):
    """An array without content yet: naming it allocates and stores nothing."""


def _constant_array(name: str, value: float) -> None:
    @function(f"numpy.{name}", "shape dtype=None order=None")
    def body(call: Call) -> Value:
        dtype = call.dtype() or FLOAT64
        return full(shape_of(call, call.value("shape")), number(value), dtype)

    @function(f"numpy.{name}_like", "a dtype=None order=None subok=True shape=None")
    def like(call: Call) -> Value:
        return full(_like(call), number(value), call.dtype() or call.array("a").dtype)


def _like(call: Call) -> tuple[Poly, ...]:
    """The shape of the array `a`, or the one given as `shape`."""
    call.b.sizes.strict.add("made")
    if call.value("shape") is not NONE:
        return shape_of(call, call.value("shape"))
    array = call.array("a")
    call.b.sizes.tell(array)
    return array.shape


_constant_array("zeros", 0.0)
_constant_array("ones", 1.0)


@function("numpy.empty", "shape dtype=None order=None")
@function("numpy.ndarray", "shape dtype=None")
def _empty(call: Call) -> Value:
    zeros = full(shape_of(call, call.value("shape")), number(0.0), call.dtype() or FLOAT64)
    return Empty(zeros.shape, zeros.dtype, zeros.at)


@function("numpy.empty_like", "a dtype=None order=None subok=True shape=None")
def _empty_like(call: Call) -> Value:
    zeros = full(_like(call), number(0.0), call.dtype() or call.array("a").dtype)
    return Empty(zeros.shape, zeros.dtype, zeros.at)


def _filled(call: Call, shape: Sequence[Poly], default: DType) -> Array:
    value = call.operand("fill_value")
    dtype = call.dtype() or default
    if not isinstance(value, Array):
        return full(shape, value, dtype)
    if broadcast_shape(call.b, [tuple(shape), value.shape], f"`{call.name}`") != tuple(shape):
        raise call.refuse(
            "PRT903", f"the fill value of `{call.name}` has more dimensions than the shape"
        )
    return Array(tuple(shape), dtype,
                 lambda idx: cast(value.at(aligned(value.shape, idx)), dtype))  # fmt: skip


@function("numpy.full", "shape fill_value dtype=None order=None")
def _full(call: Call) -> Value:
    value = call.operand("fill_value")
    return _filled(call, shape_of(call, call.value("shape")), strengthen(value.dtype))


@function("numpy.full_like", "a fill_value dtype=None order=None subok=True shape=None")
def _full_like(call: Call) -> Value:
    return _filled(call, _like(call), call.array("a").dtype)


@function("numpy.identity", "n dtype=None")
def _identity(call: Call) -> Value:
    rows = shape_of(call, call.value("n"))[0]
    return ones_on_diagonal(rows, rows, 0, call.dtype() or FLOAT64)


@function("numpy.eye", "N M=None k=0 dtype=None")
def _eye(call: Call) -> Value:
    rows = shape_of(call, call.value("N"))[0]
    columns = rows if call.value("M") is NONE else shape_of(call, call.value("M"))[0]
    return ones_on_diagonal(rows, columns, int(call.constant("k")), call.dtype() or FLOAT64)


def ones_on_diagonal(rows: Poly, columns: Poly, k: int, dtype: DType) -> Array:
    """1 on the k-th diagonal, 0 elsewhere."""

    def at(idx: Sequence[Poly]) -> ir.Expr:
        on = ir.Op("eq", (index_value(idx[0] + k), index_value(idx[1])), DType("bool"))
        return choose(on, cast(integer(1), dtype), cast(integer(0), dtype))

    return Array((rows, columns), dtype, at)


@function("numpy.copy", "a order=None subok=False")
def _copy(call: Call) -> Value:
    array = call.array("a")
    return Array(array.shape, array.dtype, array.at, None, array.mask, array.lead)


@function("numpy.array", "a dtype=None copy=True order=None ndmin=0 subok=False")
def _array(call: Call) -> Value:
    array = call.array("a")
    dtype = call.dtype() or array.dtype
    array = raised(array, int(call.constant("ndmin")))
    if call.constant("copy") is False:
        return _uncopied(call, array, dtype)
    return Array(array.shape, dtype, lambda idx: cast(array.at(idx), dtype), mask=array.mask)


def _uncopied(call: Call, array: Array, dtype: DType) -> Array:
    """The array itself, with `copy=False`: NumPy 2 raises ValueError where that is a copy."""
    if dtype.name != array.dtype.name:
        raise call.refuse(
            "PRT907",
            f"`copy=False` raises ValueError for an array of {array.dtype.name}",
            "use `np.asarray`, which copies where it must",
        )
    call.b.dtypes.pin(array.dtype)
    for given in call.b.host.arguments.values():
        mine = given.view if isinstance(given, Array) else None
        if mine is not None and array.view is not None and mine.buffer == array.view.buffer:
            call.b.host.note_classes(given, ir.Classes(("np.ndarray",), True))
    return array


@function(
    "numpy.asarray numpy.ascontiguousarray numpy.asanyarray", "a dtype=None order=None copy=None"
)
def _asarray(call: Call) -> Value:
    """The array itself where it already has the dtype: still a view of the argument."""
    if call.arguments.get("copy", NONE) is not NONE and call.constant("copy") is False:
        return _uncopied(call, call.array("a"), call.dtype() or call.array("a").dtype)
    call.b.host.note_classes(call.value("a"), ir.Classes((), False))
    array = call.array("a")
    dtype = call.dtype()
    if dtype is None or dtype.name == array.dtype.name:
        if dtype is not None:
            # for another dtype of the argument it would be a copy
            call.b.dtypes.pin(array.dtype)
        return array
    converted = as_array(astype(array, dtype))
    if dtype.name != array.dtype.name or array.view is None:
        return converted
    inner = array.view
    view = replace(inner, index=lambda idx: inner.index(idx), only=array.dtype)
    return Array(array.shape, dtype, converted.at, view, array.mask)
