"""Joining arrays: the element is chosen by the index."""

from __future__ import annotations

from collections.abc import Sequence

from porter.arrays.dtypes import BOOL, promote, strengthen
from porter.arrays.sizes import Poly
from porter.frontend.builder import Builder
from porter.frontend.calculus import ONE, Operand, as_array, index_value, normal_axis
from porter.frontend.functions.registry import Call, function
from porter.frontend.scalars import cast
from porter.frontend.values import Array, Value
from porter.ir.nodes import Expr, Op, Select


def below(i: Poly, bound: Poly) -> Expr:
    """`i < bound` as a scalar condition."""
    return Op("lt", (index_value(i), index_value(bound)), BOOL)


def join(b: Builder, arrays: Sequence[Array], axis: int, what: str) -> Array:
    """The arrays one after the other along an axis."""
    first = arrays[0]
    axis = normal_axis(b, axis, first.ndim, what)
    dtype = strengthen(arrays[0].dtype)
    starts, total = [Poly()], Poly()
    for a in arrays:
        if a.ndim != first.ndim:
            raise b.refuse("PRT903", f"{what} of arrays with different numbers of dimensions")
        for d, n in enumerate(a.shape):
            if d != axis:
                b.unify(first.shape[d], n, what)
        b.same_dtype(dtype, a.dtype)
        dtype = promote(dtype, a.dtype)
        total = total + b.resolve(a.shape[axis])
        starts.append(total)

    def at(idx: Sequence[Poly]) -> Expr:
        def part(k: int) -> Expr:
            inner = [*idx[:axis], idx[axis] - starts[k], *idx[axis + 1 :]]
            return cast(arrays[k].at(inner), dtype)

        known = idx[axis].constant
        ends = [s.constant for s in starts[1:]]
        if known is not None and all(e is not None for e in ends):
            return part(next(k for k, e in enumerate(ends) if e is not None and known < e))
        value = part(len(arrays) - 1)
        for k in reversed(range(len(arrays) - 1)):
            value = Select(below(idx[axis], starts[k + 1]), part(k), value, dtype)
        return value

    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return Array(shape, dtype, at)


def stack(b: Builder, values: Sequence[Operand], axis: int) -> Array:
    """The arrays (or scalars) along a new axis."""
    arrays = [_lifted(as_array(v), axis) for v in values]
    return join(b, arrays, axis, "`stack`")


def _lifted(array: Array, axis: int) -> Array:
    position = axis % (array.ndim + 1)
    shape = (*array.shape[:position], ONE, *array.shape[position:])

    def at(idx: Sequence[Poly]) -> Expr:
        return array.at([*idx[:position], *idx[position + 1 :]])

    return Array(shape, array.dtype, at)


def _parts(call: Call) -> list[Array]:
    value = call.value("arrays")
    if not isinstance(value, tuple) or not value:
        raise call.refuse("PRT902", f"`{call.name}` needs a tuple or list of arrays")
    return [as_array(call.ev.as_numeric(v, call.node)) for v in value]


@function("numpy.concatenate", "arrays axis=0")
def _concatenate(call: Call) -> Value:
    return join(call.b, _parts(call), int(call.constant("axis")), "`concatenate`")


@function("numpy.stack", "arrays axis=0")
def _stack(call: Call) -> Value:
    return stack(call.b, _parts(call), int(call.constant("axis")))


@function("numpy.hstack", "arrays")
def _hstack(call: Call) -> Value:
    parts = [_lifted(a, 0) if not a.ndim else a for a in _parts(call)]
    return join(call.b, parts, 0 if parts[0].ndim == 1 else 1, "`hstack`")


@function("numpy.vstack", "arrays")
def _vstack(call: Call) -> Value:
    parts = [_lifted(a, 0) if a.ndim == 1 else a for a in _parts(call)]
    return join(call.b, parts, 0, "`vstack`")


@function("numpy.column_stack", "arrays")
def _column_stack(call: Call) -> Value:
    parts = [_lifted(a, 1) if a.ndim == 1 else a for a in _parts(call)]
    return join(call.b, parts, 1, "`column_stack`")
