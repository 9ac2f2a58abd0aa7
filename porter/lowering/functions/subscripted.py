"""What is subscripted instead of called: `np.mgrid[...]`, `np.r_[...]` and their kin."""

from __future__ import annotations

from typing import Any

import libcst as cst

from porter import ir
from porter.ir.scalars import constant_of, integer, poly_of
from porter.lowering.arrays.calculus import ONE, Operand
from porter.lowering.arrays.rearrange import settled
from porter.lowering.evaluation import Evaluator, is_expr
from porter.lowering.functions.grids import grid, stacked
from porter.lowering.functions.joining import join
from porter.lowering.functions.registry import Call
from porter.resolve.values import NONE, Array, Text, Value
from porter.sizes.polynomial import Poly


def subscripted(ev: Evaluator, name: str, node: cst.Subscript) -> Value:
    """The value of `name[...]`."""
    call = Call(ev, name, {}, node)
    if name in ("numpy.s_", "numpy.index_exp"):
        items = tuple(ev.items(node))
        return items[0] if len(items) == 1 and name == "numpy.s_" else items
    several = len(node.slice) > 1 or isinstance(node.slice[-1].comma, cst.Comma)
    parts = [_part(call, e.slice, several and name == "numpy.mgrid") for e in node.slice]
    if name in ("numpy.mgrid", "numpy.ogrid"):
        axes = [p for p in parts if isinstance(p, Array) and p.ndim == 1]
        if len(axes) != len(parts):
            raise call.refuse(
                "PRT905",
                f"`{name}` must be indexed with slices",
                "write slices in its brackets: `np.mgrid[0:n, 0:m]`",
            )
        sparse = name == "numpy.ogrid"
        if not several:
            return axes[0]
        points = grid(call, axes, sparse)
        return points if sparse else stacked(call, points)
    if any(isinstance(p, Text) for p in parts):
        raise call.refuse(
            "PRT901",
            f"`{name}` with a string as first item is not supported",
            "use `np.concatenate`",
        )
    arrays = [_operand(ev, ev.as_numeric(p, node)) for p in parts]
    if name == "numpy.c_":
        return join(ev.b, [_column(a) for a in arrays], -1, "`c_`")
    return join(ev.b, [_line(a) for a in arrays], 0, "`r_`")


def _operand(ev: Evaluator, value: Operand) -> Array:
    """A Python number stays weak: `np.r_[x, 0]` has the dtype of x."""
    if isinstance(value, Array):
        return settled(ev.b, value) if value.ndim else value
    return Array((), value.dtype, lambda _: value)


def _line(array: Array) -> Array:
    if array.ndim:
        return array
    return Array((ONE,), array.dtype, lambda _: array.at(()))


def _column(array: Array) -> Array:
    lined = _line(array)
    if lined.ndim > 1:
        return lined
    return Array((*lined.shape, ONE), lined.dtype, lambda idx: lined.at(idx[:1]))


def _part(call: Call, item: cst.BaseSlice, checked: bool) -> Any:
    """A slice as the numbers that it runs through, an imaginary step being their count.

    One that would have less than no elements is empty, or raises ValueError if it is `checked`.
    """
    if not isinstance(item, cst.Slice):
        assert isinstance(item, cst.Index)
        return call.ev(item.value)
    given = (item.lower, item.upper, item.step)
    start, stop, step = (NONE if p is None else call.ev(p) for p in given)
    start = integer(0) if start is NONE else start
    if stop is NONE:
        raise call.refuse(
            "PRT905", f"a slice of `{call.name}` requires an end", "write the end of the slice"
        )
    count = constant_of(step)
    if isinstance(count, complex) and not isinstance(count, (int, float)):
        many = integer(int(abs(count)))
        return call.as_function("numpy.linspace", start=start, stop=stop, num=many)
    if checked:
        _check_length(call, start, stop, 1 if step is NONE else count)
    return call.as_function("numpy.arange", start=start, stop=stop, step=step)


def _check_length(call: Call, start: Value, stop: Value, step: object) -> None:
    low, high = (poly_of(v) if is_expr(v) else None for v in (start, stop))
    if low is None or high is None or not isinstance(step, int) or step == 0:
        return
    length = call.b.sizes.resolve((high - low if step > 0 else low - high) + abs(step) - 1)
    if not length.is_nonneg() and not call.b.scope.ranges:
        message = "negative dimensions are not allowed"
        call.b.sizes.check(ir.Check("index", Poly(), length, message))
