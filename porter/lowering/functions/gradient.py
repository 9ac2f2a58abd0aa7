"""`np.gradient`: central differences inside, one-sided ones at the ends."""

from __future__ import annotations

from porter import ir
from porter.dtypes.dtype import FLOAT64
from porter.ir.scalars import number
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    as_array,
    astype,
    delayed,
    elementwise,
    normal_axis,
)
from porter.lowering.arrays.rearrange import settled
from porter.lowering.functions.differences import gaps_of, part
from porter.lowering.functions.joining import join
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly


@function("numpy.gradient", "*args axis=None edge_order=1")
def _gradient(call: Call) -> Value:
    """Central differences inside, one-sided ones at the ends; one array per axis."""
    first, *spacing = call.value("args")
    array = settled(call.b, as_array(call.ev.as_numeric(first, call.node)))
    if array.dtype.kind == "b":
        raise call.refuse("PRT903", "`gradient` of booleans is not supported",
                          "convert them to floats first")  # fmt: skip
    if array.dtype.kind not in "fc":
        array = as_array(astype(array, FLOAT64))
    given = call.axes()
    axes = list(range(array.ndim)) if given is None else [
        normal_axis(call.b, a, array.ndim, "`gradient`") for a in given]  # fmt: skip
    order = int(call.constant("edge_order"))
    if order not in (1, 2):
        raise call.refuse("PRT903", "`edge_order` of `gradient` must be 1 or 2", "pass 1 or 2")
    if len(spacing) not in (0, 1, len(axes)):
        raise call.refuse("PRT903", "`gradient` requires one distance, or one for each axis")
    steps: list[Operand] = [call.ev.as_numeric(v, call.node) for v in spacing]
    steps = (steps or [number(1.0)]) * (len(axes) if len(steps) < 2 else 1)
    results = [
        _slope(call, array, axis, step, order) for axis, step in zip(axes, steps, strict=True)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _slope(call: Call, array: Array, axis: int, step: Operand, order: int) -> Array:
    n = call.b.sizes.resolve(array.shape[axis])
    if not (n - order).is_positive():
        message = "Shape of array too small to calculate a numerical gradient"
        call.b.sizes.check(ir.Check("index", Poly.of(order + 1), n, message))
    if isinstance(step, Array) and step.ndim:
        parts = _uneven(call, array, axis, step, order)
    else:
        parts = _even(call, array, axis, step, order)
    pieces = [as_array(astype(p, array.dtype)) for p in parts]
    return join(call.b, pieces, axis, "`gradient`")


def _sum(call: Call, *terms: tuple[Operand, Array]) -> Array:
    products = [elementwise(call.b, "mul", a, x) for a, x in terms]
    total = products[0]
    for p in products[1:]:
        total = elementwise(call.b, "add", total, p)
    return as_array(total)


def _even(call: Call, array: Array, axis: int, step: Operand, order: int) -> list[Operand]:
    def at(k: int) -> Array:
        return part(call, array, axis, k, k + 1 if k != -1 else None)

    def over(x: Array, y: Array, by: Operand) -> Operand:
        return elementwise(call.b, "truediv", elementwise(call.b, "sub", x, y), by)

    twice = elementwise(call.b, "mul", number(2.0), step)
    inner = over(part(call, array, axis, 2, None), part(call, array, axis, None, -2), twice)
    if order == 1:
        return [over(at(1), at(0), step), inner, over(at(-1), at(-2), step)]

    def scaled(*factors: float) -> list[Operand]:
        return [elementwise(call.b, "truediv", number(f), step) for f in factors]

    first = _sum(call, *zip(scaled(-1.5, 2.0, -0.5), map(at, (0, 1, 2)), strict=True))
    last = _sum(call, *zip(scaled(0.5, -2.0, 1.5), map(at, (-3, -2, -1)), strict=True))
    return [first, inner, last]


def _uneven(call: Call, array: Array, axis: int, where: Array, order: int) -> list[Operand]:
    """Second-order differences over the distances to both neighbours (NumPy's formula)."""
    b = call.b
    if where.ndim != 1:
        raise call.refuse("PRT903", "the distances of `gradient` must be scalars or 1-D arrays")
    if order != 1:
        raise call.refuse("PRT901", "`edge_order=2` with coordinates is not supported")
    n = b.sizes.unify(
        array.shape[axis], where.shape[0], "distances must match the length of the axis"
    )
    if where.dtype.kind in "iub":
        where = as_array(astype(where, FLOAT64))

    def lying(a: Array) -> Array:
        shape = tuple(a.shape[0] if d == axis else ONE for d in range(array.ndim))
        return delayed(a, lambda idx: a.at([idx[axis]]), shape)

    gaps = as_array(
        elementwise(b, "sub", part(call, where, 0, 1, None), part(call, where, 0, None, -1))
    )
    before, behind = (lying(part(call, gaps, 0, *s)) for s in ((None, -1), (1, None)))
    both = elementwise(b, "add", before, behind)

    def ratio(x: Operand, *factors: Operand) -> Operand:
        return elementwise(b, "truediv", x, elementwise(b, "mul", *factors))

    more = elementwise(b, "sub", behind, before)
    inner = _sum(
        call,
        (elementwise(b, "neg", ratio(behind, before, both)), part(call, array, axis, None, -2)),
        (
            ratio(more, before, behind),
            part(call, array, axis, 1, -1),
        ),
        (ratio(before, behind, both), part(call, array, axis, 2, None)),
    )
    first, last = part(call, array, axis, None, 2), part(call, array, axis, -2, None)
    ends = [elementwise(b, "truediv", gaps_of(call, a, axis), gaps.at([k]))
            for a, k in ((first, Poly()), (last, n - 2))]  # fmt: skip
    return [ends[0], inner, ends[1]]
