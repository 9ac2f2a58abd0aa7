"""Joining arrays: the element is chosen by the index."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, promote, strengthen
from porter.ir.scalars import cast, choose, number
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    aligned,
    as_array,
    astype,
    index_value,
    normal_axis,
    transpose,
)
from porter.lowering.arrays.rearrange import along, flat, raised, reshape, settled
from porter.lowering.arrays.subscripts import row
from porter.lowering.functions.registry import Call, function
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import never_negative
from porter.resolve.values import Array, Slice, Value
from porter.sizes.polynomial import Poly, maximum
from porter.sizes.shapes import product


def below(i: Poly, bound: Poly) -> ir.Expr:
    """`i < bound` as a scalar condition, decided here where that can be."""
    gap = bound - i
    if gap.constant is not None or gap.is_positive():
        return number(gap.is_positive())
    return ir.Op("lt", (index_value(i), index_value(bound)), BOOL)


def length(b: Builder, n: Poly) -> Poly:
    """An extent as a number of elements: that of a slice of a short array is not negative."""
    n = b.sizes.resolve(n)
    return n if never_negative(b.sizes, n) else maximum(n, 0)


def join(b: Builder, arrays: Sequence[Array], axis: int, what: str) -> Array:
    """The arrays one after the other along an axis."""
    if not arrays:
        raise b.refuse("PRT903", f"{what} of no arrays raises ValueError in NumPy")
    first = arrays[0]
    axis = normal_axis(b, axis, first.ndim, what)
    dtype = arrays[0].dtype
    starts, total = [Poly()], Poly()
    for a in arrays:
        if a.ndim != first.ndim:
            raise b.refuse("PRT903", f"{what} of arrays with different ndim")
        for d, n in enumerate(a.shape):
            if d != axis:
                b.sizes.unify(first.shape[d], n, what)
        b.dtypes.same_dtype(dtype, a.dtype)
        dtype = promote(dtype, a.dtype)
        total = total + length(b, a.shape[axis])
        starts.append(total)
    dtype = strengthen(dtype)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        def part(k: int) -> ir.Expr:
            inner = [*idx[:axis], idx[axis] - starts[k], *idx[axis + 1 :]]
            return cast(arrays[k].at(inner), dtype)

        value = part(len(arrays) - 1)
        for k in reversed(range(len(arrays) - 1)):
            value = choose(below(idx[axis], starts[k + 1]), part(k), value)
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

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return array.at([*idx[:position], *idx[position + 1 :]])

    return Array(shape, array.dtype, at)


def _parts(call: Call, name: str = "arrays") -> list[Array]:
    """The arrays of a sequence; those that are folds get a statement of their own."""
    value = call.value(name)
    if isinstance(value, Array) and value.ndim and value.shape[0].constant is not None:
        value = tuple(row(call.b, value, Poly.of(k)) for k in range(value.shape[0].constant))
    if not isinstance(value, tuple) or not value:
        raise call.refuse(
            "PRT902",
            f"`{call.name}` requires a tuple or list of arrays",
            "pass the arrays as a tuple or list",
        )
    arrays = [as_array(call.ev.as_numeric(v, call.node)) for v in value]
    return [settled(call.b, a) if a.ndim else a for a in arrays]


def _joined(call: Call, parts: Sequence[Array], axis: int) -> Value:
    what = f"`{call.name.path}`"
    if any(not a.ndim for a in parts):
        raise call.refuse("PRT903", f"{what} does not take arrays of zero dimensions")
    return join(call.b, parts, axis, what)


def _items(call: Call, new: Sequence[int] = ()) -> Array | None:
    """An array that stands for the arrays along its first axis, however many these are.

    They get new axes as by `_raised`.
    """
    given = call.value("arrays")
    if not isinstance(given, Array) or not given.ndim or given.shape[0].constant is not None:
        return None
    call.b.sizes.check(
        ir.Check("index", ONE, given.shape[0], "need at least one array to concatenate")
    )
    return _raised(settled(call.b, given), [0, *(axis + 1 for axis in new)])


def _merged(call: Call, items: Array, axis: int) -> Value:
    """The arrays along the first axis of another one, one after the other along an axis of them."""
    count, *item = items.shape
    if not item:
        raise call.refuse("PRT903", f"`{call.name.path}` does not take arrays of zero dimensions")
    axis = normal_axis(call.b, axis, len(item), f"`{call.name.path}`")
    order = [*range(1, axis + 1), 0, *range(axis + 1, items.ndim)]
    moved = transpose(items, order)
    if item[axis] == ONE:
        shape = (*item[:axis], count, *item[axis + 1 :])
        return Array(shape, moved.dtype, lambda idx: moved.at(_with_one(idx, axis)))
    shape = (*item[:axis], product((count, item[axis])), *item[axis + 1 :])
    merged = reshape(call.b, moved, shape)
    return Array(merged.shape, merged.dtype, merged.at)


def _with_one(idx: Sequence[Poly], axis: int) -> list[Poly]:
    """A subscript with the only index of an axis of length 1 behind that of another one."""
    return [*idx[: axis + 1], Poly(), *idx[axis + 1 :]]


@function("numpy.concatenate numpy.concat", "arrays axis=0 dtype=None")
def _concatenate(call: Call) -> Value:
    axis, items, dtype = call.constant("axis"), _items(call), call.dtype()
    if items is not None:
        if dtype is not None:
            items = as_array(astype(items, dtype))
        if axis is None:
            merged = reshape(call.b, items, (product(items.shape),))
            return Array(merged.shape, merged.dtype, merged.at)
        return _merged(call, items, int(axis))
    parts = _parts(call)
    if axis is None:
        axis, parts = 0, [flat(call.b, a) for a in parts]
    if dtype is not None:
        parts = [as_array(astype(a, dtype)) for a in parts]
    return _joined(call, parts, int(axis))


@function("numpy.append", "arr values axis=None")
def _append(call: Call) -> Value:
    axis = call.constant("axis")
    parts = [settled(call.b, call.array(n)) for n in ("arr", "values")]
    if axis is None:
        axis, parts = 0, [flat(call.b, a) if a.ndim else _lifted(a, 0) for a in parts]
    return _joined(call, parts, int(axis))


@function("numpy.stack", "arrays axis=0")
def _stack(call: Call) -> Value:
    axis = int(call.constant("axis"))
    items = _items(call)
    if items is not None:
        axis = normal_axis(call.b, axis, items.ndim, "`stack`")
        return _merged(call, _lifted(items, axis + 1), axis)
    return stack(call.b, _parts(call), axis)


def _raised(array: Array, axes: Sequence[int]) -> Array:
    """With new axes of length 1 where the n-th says, for an array with n dimensions."""
    for axis in axes[array.ndim :]:
        array = _lifted(array, axis)
    return array


def _rows_or_parts(call: Call, new: Sequence[int], axis: int) -> Value:
    """The arrays with new axes as by `_raised`, one after the other along an axis."""
    items = _items(call, new)
    if items is not None:
        return _merged(call, items, axis)
    return _joined(call, [_raised(a, new) for a in _parts(call)], axis)


@function("numpy.hstack", "arrays")
def _hstack(call: Call) -> Value:
    items = _items(call, [0])
    if items is not None:
        return _merged(call, items, 0 if items.ndim == 2 else 1)
    parts = [_raised(a, [0]) for a in _parts(call)]
    return _joined(call, parts, 0 if parts[0].ndim == 1 else 1)


@function("numpy.vstack", "arrays")
def _vstack(call: Call) -> Value:
    return _rows_or_parts(call, [0, 0], 0)


@function("numpy.dstack", "arrays")
def _dstack(call: Call) -> Value:
    return _rows_or_parts(call, [0, 0, 2], 2)


@function("numpy.column_stack", "arrays")
def _column_stack(call: Call) -> Value:
    return _rows_or_parts(call, [1, 1], 1)


# -- one element more or less ----------------------------------------------------------


def _place(call: Call, n: Poly, last: Poly) -> Poly:
    """The scalar position `obj`, from 0 to `last`; negative ones count from the end."""
    value = call.value("obj")
    if isinstance(value, (tuple, Array, Slice)):
        raise call.refuse(
            "PRT906",
            f"`{call.name}` at several positions is not supported",
            "select the elements to keep with a mask",
        )
    at = call.b.sizes.resolve(call.ev.size(value, call.node))
    message = f"index is out of bounds for axis with size {n}"
    if at.constant is not None and at.constant < 0:
        call.b.sizes.check(ir.Check("index", -at, n, message, "IndexError"))
        return n + at
    if not at.is_nonneg():
        call.b.sizes.check(ir.Check("index", Poly(), at, "negative positions are not converted"))
    call.b.sizes.check(ir.Check("index", at, last, message, "IndexError"))
    return at


def _along(call: Call) -> tuple[Array, int]:
    array, axis = call.array("arr"), call.constant("axis")
    array = settled(call.b, flat(call.b, array) if axis is None else array)
    return array, normal_axis(call.b, int(axis or 0), array.ndim, f"`{call.name}`")


@function("numpy.insert", "arr obj values axis=None")
def _insert(call: Call) -> Value:
    """The values, in the array's dtype, between the elements before a position and the rest."""
    array, axis = _along(call)
    n = length(call.b, array.shape[axis])
    at = _place(call, n, n)
    given = raised(settled(call.b, call.array("values")), array.ndim)
    if given.ndim > array.ndim:
        raise call.refuse("PRT903", "the values of `insert` have more dimensions than the array")
    order = list(range(1, given.ndim))
    order.insert(axis, 0)
    moved = transpose(given, order)
    shape = (*array.shape[:axis], moved.shape[axis], *array.shape[axis + 1 :])
    values = Array(shape, array.dtype,
                   lambda idx: cast(moved.at(aligned(moved.shape, idx)), array.dtype))  # fmt: skip
    for d, have in enumerate(moved.shape):
        if d != axis and have != ONE:
            call.b.sizes.unify(array.shape[d], have, "`insert`")
    first = along(array, axis, at, lambda k: k)
    rest = along(array, axis, n - at, lambda k: k + at)
    return join(call.b, [first, values, rest], axis, "`insert`")


@function("numpy.delete", "arr obj axis=None")
def _delete(call: Call) -> Value:
    """The elements before a position and those after it."""
    array, axis = _along(call)
    n = call.b.sizes.resolve(array.shape[axis])
    at = _place(call, n, n - 1)
    first = along(array, axis, at, lambda k: k)
    rest = along(array, axis, n - 1 - at, lambda k: k + at + 1)
    return join(call.b, [first, rest], axis, "`delete`")
