"""`np.pad`: what lies beyond the ends is an index of the array, or a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from porter import ir
from porter.ir.scalars import cast, choose, integer, operate
from porter.lowering.arrays.calculus import ONE
from porter.lowering.arrays.rearrange import along, settled
from porter.lowering.functions.joining import below, length
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.repeating import count
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import BORDERS, Poly, bordered


def _wrap(k: Poly, n: Poly) -> Poly:
    return k % n


_OUTSIDE: dict[str, Callable[[Poly, Poly], Poly]] = {
    "wrap": _wrap, **{mode: partial(bordered, mode) for mode in BORDERS},
}  # fmt: skip


def pairs(call: Call, value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """`n`, `(before, after)` or one such pair per axis, as a pair per axis."""
    if not isinstance(value, tuple):
        return [(value, value)] * ndim
    rows = [v if isinstance(v, tuple) else None for v in value]
    if all(r is None for r in rows):
        if len(value) == 1:
            return [(value[0], value[0])] * ndim
        rows = [value]
    if len(rows) == 1:
        rows = rows * ndim
    if len(rows) != ndim or any(r is None or len(r) not in (1, 2) for r in rows):
        raise call.refuse(
            "PRT903", f"`{call.name}` requires a width, a pair, or a pair for each axis"
        )
    return [(r[0], r[-1]) for r in rows if r is not None]


@function("numpy.pad", "array pad_width mode=constant constant_values=0 reflect_type=even")
def _pad(call: Call) -> Value:
    array, mode = settled(call.b, call.array("array")), call.constant("mode")
    if call.constant("reflect_type") != "even" or mode not in (*_OUTSIDE, "constant"):
        raise call.refuse("PRT901", f"`pad` with the mode `{mode}` is not supported",
                          "use constant, edge, wrap, reflect or symmetric")  # fmt: skip
    widths = pairs(call, call.value("pad_width"), array.ndim)
    values = call.value("constant_values")
    fill = pairs(call, integer(0) if values == 0 else values, array.ndim)
    for d, width in enumerate(widths):
        before, after = (count(call, w) for w in width)
        if before == Poly() == after:
            continue
        size = length(call.b, array.shape[d])
        total = before + size + after
        if mode in _OUTSIDE:
            where = _OUTSIDE[mode]
            if not size.is_positive():
                call.b.sizes.check(_not_empty(size))
            array = along(array, d, total, _shifted(where, before, size))
        else:
            sides = [_number(call, v, array) for v in fill[d]]
            array = _bordered(array, d, before, total, sides)
    return Array(array.shape, array.dtype, array.at)


def _shifted(
    where: Callable[[Poly, Poly], Poly], before: Poly, size: Poly
) -> Callable[[Poly], Poly]:
    return lambda k: where(k - before, size)


def _not_empty(size: Poly) -> ir.Check:
    return ir.Check("index", ONE, size, "can't extend empty axis using modes other than constant")


def _number(call: Call, value: Any, array: Array) -> ir.Expr:
    found = call.ev.as_numeric(value, call.node)
    if isinstance(found, Array):
        if found.ndim:
            raise call.refuse("PRT901", "`pad` with arrays as `constant_values` is not supported")
        found = found.at(())
    return cast(found, array.dtype)


def _bordered(array: Array, d: int, before: Poly, total: Poly, sides: Sequence[ir.Expr]) -> Array:
    """The array with one number before and one after it."""
    low, high = sides
    size = array.shape[d]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = idx[d] - before
        inner = array.at([*idx[:d], k, *idx[d + 1 :]])
        early, inside = below(idx[d], before), below(k, size)
        if low == high:
            return choose(operate("and", operate("not", early), inside), inner, low)
        return choose(early, low, choose(inside, inner, high))

    return Array((*array.shape[:d], total, *array.shape[d + 1 :]), array.dtype, at)
