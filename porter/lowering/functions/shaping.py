"""Rearranging arrays: index arithmetic only. What NumPy returns as a view stays a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porter import ir
from porter.lowering.arrays.calculus import (
    ONE,
    aligned,
    as_array,
    at_most_one,
    broadcast_shape,
    normal_axis,
    reindex,
    strong,
    transpose,
)
from porter.lowering.arrays.rearrange import flat, readonly, reshape
from porter.lowering.arrays.subscripts import index, index_array
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Slice, Value
from porter.sizes.polynomial import Data, Poly
from porter.support.reserved import given


def _axis(call: Call, array: Array, name: str = "axis") -> int:
    return normal_axis(call.b, int(call.constant(name)), array.ndim, f"`{call.name}`")


@function("numpy.transpose", "a axes=None")
def _transpose(call: Call) -> Value:
    array = call.array("a")
    axes = call.axes("axes")
    order = range(array.ndim)[::-1] if axes is None else axes
    return transpose(array, [normal_axis(call.b, a, array.ndim, "`transpose`") for a in order])


@function("numpy.swapaxes", "a axis1 axis2")
def _swapaxes(call: Call) -> Value:
    array = call.array("a")
    order = list(range(array.ndim))
    i, j = _axis(call, array, "axis1"), _axis(call, array, "axis2")
    order[i], order[j] = order[j], order[i]
    return transpose(array, order)


@function("numpy.moveaxis", "a source destination")
def _moveaxis(call: Call) -> Value:
    array = call.array("a")
    given = [[normal_axis(call.b, a, array.ndim, "`moveaxis`") for a in call.axes(n) or []]
             for n in ("source", "destination")]  # fmt: skip
    source, destination = given
    if len(source) != len(destination) or any(len(set(g)) != len(g) for g in given):
        raise call.refuse("PRT903", "`moveaxis` requires as many distinct sources as destinations")
    order = [d for d in range(array.ndim) if d not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return transpose(array, order)


@function("numpy.rollaxis", "a axis start=0")
def _rollaxis(call: Call) -> Value:
    array = call.array("a")
    axis, start = _axis(call, array), int(call.constant("start"))
    start += array.ndim if start < 0 else 0
    order = [d for d in range(array.ndim) if d != axis]
    order.insert(start - (axis < start), axis)
    return transpose(array, order)


@function("numpy.expand_dims", "a axis")
def _expand_dims(call: Call) -> Value:
    array, axes = call.array("a"), call.axes() or []
    ndim = array.ndim + len(axes)
    new = {normal_axis(call.b, a, ndim, "`expand_dims`") for a in axes}
    if len(new) != len(axes):
        raise call.refuse(
            "PRT903", "`expand_dims` is given the same axis twice", "name each axis once"
        )
    items = [NONE if d in new else Slice(None, None, None) for d in range(ndim)]
    return index(call.b, array, items) if ndim else array


def _at_least(ndim: int, before: tuple[int, ...], after: tuple[int, ...]) -> None:
    """`before[n]` and `after[n]` axes of length 1 around an array with n dimensions."""

    @function(f"numpy.atleast_{ndim}d", "*arrays")
    def body(call: Call) -> Value:
        results = []
        for value in call.value("arrays"):
            array = as_array(strong(call.ev.as_numeric(value, call.node)))
            if array.ndim < ndim:
                items: list[Any] = [NONE] * before[array.ndim]
                items += [Slice(None, None, None)] * array.ndim + [NONE] * after[array.ndim]
                array = index_array(call.b, array, items)
            results.append(array)
        return results[0] if len(results) == 1 else tuple(results)


_at_least(1, (1,), (0,))
_at_least(2, (2, 1), (0, 0))
_at_least(3, (3, 1, 0), (0, 1, 1))


@function("numpy.squeeze", "a axis=None")
def _squeeze(call: Call) -> Value:
    array = call.array("a")
    axes = call.axes()
    if axes is None:
        axes = [d for d, n in enumerate(array.shape) if at_most_one(n)]
        longer = [n for d, n in enumerate(array.shape) if d not in axes]
        if not at_the_end(call, longer, array):
            _longer(call, longer)
    gone = {normal_axis(call.b, a, array.ndim, "`squeeze`") for a in axes}
    for d in gone:
        call.b.sizes.unify(array.shape[d], ONE, "`squeeze` of an axis that is not 1 long")
    kept = [d for d in range(array.ndim) if d not in gone]

    def back(idx: Sequence[Poly]) -> list[Poly]:
        at = dict(zip(kept, idx, strict=True))
        return [at.get(d, Poly()) for d in range(array.ndim)]

    result = reindex(array, tuple(array.shape[d] for d in kept), back)
    return result if kept else result.at(())


def at_the_end(call: Call, sizes: Sequence[Poly], array: Array | None = None) -> bool:
    """Whether the host drops the axes of a result, when their lengths are known.

    Of an argument, which `array` may be, the result would be a view.
    """
    place = call.b.place
    if call.node not in (*place.results, *place.only_returned.values()):
        return False
    if all(map(_is_longer, sizes)):
        return False
    buffer = "" if array is None or array.view is None else array.view.buffer
    if buffer and any(map(call.b.out.is_parameter, call.b.aliases.may_be(buffer))):
        return False
    call.b.place.squeezed.add(call.node)
    call.b.sizes.asked |= {"shape", "rank"}
    return True


def _is_longer(n: Poly) -> bool:
    """Whether a size is known not to be 1."""
    return (n - 2).is_nonneg() or n.constant is not None


def _longer(call: Call, sizes: Sequence[Poly]) -> None:
    """NumPy drops every axis that is 1 long; how many there are must not change with the data."""
    for n in map(call.b.sizes.resolve, sizes):
        if _is_longer(n):
            continue
        if call.b.out.depth or any(isinstance(a, Data) for a in n.atoms()):
            raise call.refuse(
                "PRT903",
                "`squeeze` depends on lengths that are not known at conversion",
                "name the axis: `np.squeeze(x, axis=0)`",
            )
        asks = frozenset(d.array for d in n.dims())
        shapes = " and ".join(f"{given(a)} has shape {{{a}.shape}}" for a in sorted(asks))
        found = f"{shapes}, which makes" if asks else "this call makes"
        message = f"{found} an axis 1 long that squeeze was converted to keep: name its axis"
        text = f'if {n} == 1:\n    raise ValueError(f"{message}")'
        call.b.out.emit(ir.Host(text, call.b.place.origin, ir.HostKind.CHECK, asks=asks))


@function("numpy.flip numpy.flipud numpy.fliplr", "a axis=None")
def _flip(call: Call) -> Value:
    array = call.array("a")
    axes = {"numpy.flipud": [0], "numpy.fliplr": [1]}.get(call.name, call.axes())
    chosen = range(array.ndim) if axes is None else axes
    return flipped(array, [normal_axis(call.b, a, array.ndim, "`flip`") for a in chosen])


def flipped(array: Array, axes: Sequence[int]) -> Array:
    """The array read from the end along these axes: a view."""

    def back(idx: Sequence[Poly]) -> list[Poly]:
        return [array.shape[d] - 1 - i if d in axes else i for d, i in enumerate(idx)]

    return reindex(array, array.shape, back)


@function("numpy.broadcast_to", "a shape")
def _broadcast_to(call: Call) -> Value:
    array = call.array("a")
    shape = shape_of(call, call.value("shape"))
    lead = len(shape) - array.ndim
    if lead < 0:
        raise call.refuse(
            "PRT903", "`broadcast_to` requires a shape with at least as many dimensions"
        )
    for have, want in zip(array.shape, shape[lead:], strict=True):
        if have != ONE:
            call.b.sizes.unify(have, want, "`broadcast_to`")

    return readonly(
        reindex(array, shape, lambda idx: aligned(array.shape, idx[lead:])),
        "NumPy makes what `broadcast_to` returns read-only",
    )


@function("numpy.broadcast_arrays", "*args")
def _broadcast_arrays(call: Call) -> Value:
    arrays = [as_array(strong(call.ev.as_numeric(v, call.node))) for v in call.value("args")]
    shape = broadcast_shape(call.b, [a.shape for a in arrays], "`broadcast_arrays`")

    def spread(a: Array) -> Array:
        view = reindex(a, shape, lambda idx: aligned(a.shape, idx))
        return readonly(view, "elements of a broadcast array share memory")

    return tuple(map(spread, arrays))


def _row_major(call: Call) -> None:
    if call.constant("order") not in (None, "C", "A", "K"):
        raise call.refuse(
            "PRT901",
            f"`{call.name}` with `order='F'` is not supported",
            "transpose the array before the call",
        )


@function("numpy.reshape", "a shape=None order=None newshape=None")
def _reshape(call: Call) -> Value:
    _row_major(call)
    wanted = call.value("newshape" if call.value("shape") is NONE else "shape")
    return reshape(call.b, call.array("a"), shape_of(call, wanted))


@function("numpy.ravel", "a order=None")
def _ravel(call: Call) -> Value:
    _row_major(call)
    return flat(call.b, call.array("a"))
