"""Rearranging arrays: index arithmetic only. What NumPy returns as a view stays a view."""

from __future__ import annotations

from collections.abc import Sequence

from porter.arrays.dtypes import BOOL
from porter.arrays.sizes import Apply, Poly
from porter.frontend.calculus import (
    ONE,
    Operand,
    as_array,
    delayed,
    elementwise,
    index_value,
    normal_axis,
    reindex,
    transpose,
)
from porter.frontend.functions.creation import shape_of
from porter.frontend.functions.registry import Call, function
from porter.frontend.scalars import cast, choose, integer
from porter.frontend.subscripts import index
from porter.frontend.values import NONE, Array, Slice, Value
from porter.ir.nodes import Expr, Op


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
    order = list(range(array.ndim))
    order.remove(_axis(call, array, "source"))
    order.insert(_axis(call, array, "destination"), _axis(call, array, "source"))
    return transpose(array, order)


@function("numpy.expand_dims", "a axis")
def _expand_dims(call: Call) -> Value:
    array = call.array("a")
    axis = int(call.constant("axis")) % (array.ndim + 1)
    items = [Slice(None, None, None)] * array.ndim
    return index(call.b, array, [*items[:axis], NONE, *items[axis:]])


@function("numpy.squeeze", "a axis=None")
def _squeeze(call: Call) -> Value:
    array = call.array("a")
    axes = call.axes()
    if axes is None:
        axes = [d for d, n in enumerate(array.shape) if _at_most_one(n)]
    gone = {normal_axis(call.b, a, array.ndim, "`squeeze`") for a in axes}
    for d in gone:
        call.b.unify(array.shape[d], ONE, "`squeeze` of an axis that is not 1 long")
    kept = [d for d in range(array.ndim) if d not in gone]

    def back(idx: Sequence[Poly]) -> list[Poly]:
        at = dict(zip(kept, idx, strict=True))
        return [at.get(d, Poly()) for d in range(array.ndim)]

    result = reindex(array, tuple(array.shape[d] for d in kept), back)
    return result if kept else result.at(())


def _at_most_one(n: Poly) -> bool:
    """Whether a size is 1, or min(1, ...) as the slice `x[:, :1]` gives it."""
    return n == ONE or any(isinstance(a, Apply) and a.op == "min" and ONE in a.args
                           for a in n.atoms() if Poly.atom(a) == n)  # fmt: skip


@function("numpy.flip numpy.flipud numpy.fliplr", "a axis=None")
def _flip(call: Call) -> Value:
    array = call.array("a")
    axes = {"numpy.flipud": [0], "numpy.fliplr": [1]}.get(call.name, call.axes())
    chosen = {normal_axis(call.b, a, array.ndim, "`flip`")
              for a in (range(array.ndim) if axes is None else axes)}  # fmt: skip

    def back(idx: Sequence[Poly]) -> list[Poly]:
        return [n - 1 - i if d in chosen else i
                for d, (i, n) in enumerate(zip(idx, array.shape, strict=True))]  # fmt: skip

    return reindex(array, array.shape, back)


@function("numpy.roll", "a shift axis=None")
def _roll(call: Call) -> Value:
    """Element i is the one at (i - shift) mod n."""
    array = call.array("a")
    axes = call.axes()
    if axes is None and array.ndim != 1:
        raise call.refuse("PRT901", "`roll` of a flattened array", "give an axis")
    shifts = call.value("shift")
    shifts = shifts if isinstance(shifts, tuple) else (shifts,) * len(axes or [0])
    for axis, shift in zip(axes or [0], shifts, strict=True):
        d = normal_axis(call.b, axis, array.ndim, "`roll`")
        array = _rolled(array, d, call.ev.size(shift, call.node))
    return array


def _rolled(array: Array, d: int, shift: Poly) -> Array:
    n = array.shape[d]

    def at(idx: Sequence[Poly]) -> Expr:
        moved = idx[d] - shift
        return array.at([*idx[:d], Poly.of(moved) % n, *idx[d + 1 :]])

    return delayed(array, at)


@function("numpy.diff", "a n=1 axis=-1")
def _diff(call: Call) -> Value:
    array: Operand = call.array("a")
    for _ in range(int(call.constant("n"))):
        array = as_array(array)
        axis = _axis(call, array)
        items = [Slice(None, None, None)] * array.ndim
        upper = [*items[:axis], Slice(ONE, None, None), *items[axis + 1 :]]
        lower = [*items[:axis], Slice(None, Poly.of(-1), None), *items[axis + 1 :]]
        op = "ne" if array.dtype.kind == "b" else "sub"
        array = elementwise(call.b, op, index(call.b, array, upper), index(call.b, array, lower))
    return array


@function("numpy.broadcast_to", "a shape")
def _broadcast_to(call: Call) -> Value:
    array = call.array("a")
    shape = shape_of(call, call.value("shape"))
    lead = len(shape) - array.ndim
    for have, want in zip(array.shape, shape[lead:], strict=True):
        if have != ONE:
            call.b.unify(have, want, "`broadcast_to`")

    def at(idx: Sequence[Poly]) -> Expr:
        tail = idx[lead:]
        return array.at([Poly() if n == ONE else i for n, i in zip(array.shape, tail, strict=True)])

    return delayed(array, at, shape)


def _triangle(name: str, op: str) -> None:
    @function(f"numpy.{name}", "a k=0")
    def body(call: Call) -> Value:
        array, k = call.array("a"), int(call.constant("k"))
        if array.ndim < 2:
            raise call.refuse("PRT903", f"`{call.name}` needs a matrix")

        def at(idx: Sequence[Poly]) -> Expr:
            value = array.at(idx)
            inside = Op(op, (index_value(idx[-1]), index_value(idx[-2] + k)), BOOL)
            return choose(inside, value, cast(integer(0), value.dtype))

        return delayed(array, at)


_triangle("triu", "ge")
_triangle("tril", "le")


def reshape(call: Call, array: Array, shape: tuple[Poly, ...]) -> Array:
    """Row-major order; at most one size may be -1."""
    b = call.b
    total = ONE
    for n in array.shape:
        total *= b.resolve(n)
    unknown = [d for d, n in enumerate(shape) if n.constant == -1]
    known = ONE
    for n in shape:
        known *= b.resolve(n) if n.constant != -1 else ONE
    if unknown:
        shape = tuple(total // known if d in unknown else n for d, n in enumerate(shape))
        b.unify((total // known) * known, total, "cannot reshape the array")
    else:
        b.unify(total, known, "cannot reshape the array")
    return reindex(array, shape, lambda idx: _unflatten(_flatten(idx, shape), array.shape))


def _flatten(idx: Sequence[Poly], shape: Sequence[Poly]) -> Poly:
    flat = Poly()
    for i, n in zip(idx, shape, strict=True):
        flat = flat * n + i
    return flat


def _unflatten(flat: Poly, shape: Sequence[Poly]) -> list[Poly]:
    result: list[Poly] = []
    for n in reversed(shape[1:]):
        result.append(flat % n)
        flat = flat // n
    return [flat, *reversed(result)] if shape else []


@function("numpy.reshape", "a shape order=None")
def _reshape(call: Call) -> Value:
    return reshape(call, call.array("a"), shape_of(call, call.value("shape")))


@function("numpy.ravel", "a order=None")
def _ravel(call: Call) -> Value:
    return reshape(call, call.array("a"), (Poly.of(-1),))


@function("numpy.outer", "a b")
def _outer(call: Call) -> Value:
    x, y = call.array("a"), call.array("b")
    if x.ndim != 1 or y.ndim != 1:
        raise call.refuse("PRT901", "`outer` of arrays that are not 1-D")
    column = index(call.b, x, [Slice(None, None, None), NONE])
    return elementwise(call.b, "mul", column, y)


@function("numpy.meshgrid", "*arrays")
def _meshgrid(call: Call) -> Value:
    arrays = [call.ev.as_numeric(v, call.node) for v in call.value("arrays")]
    if len(arrays) != 2:
        raise call.refuse("PRT901", "`meshgrid` of other than two arrays")
    x, y = (as_array(a) for a in arrays)
    if x.ndim != 1 or y.ndim != 1:
        raise call.refuse("PRT903", "`meshgrid` needs two 1-D arrays")
    shape = (y.shape[0], x.shape[0])
    return (
        delayed(x, lambda idx: x.at([idx[1]]), shape),
        delayed(y, lambda idx: y.at([idx[0]]), shape),
    )
