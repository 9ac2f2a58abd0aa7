"""What a `for` loop runs through: ranges, arrays, and what `enumerate` and `zip` make of them."""

from __future__ import annotations

from porter.ir.scalars import integer
from porter.lowering.arrays.compaction import whole
from porter.lowering.arrays.subscripts import row
from porter.lowering.expressions.methods import positive
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Iteration, Range, Value
from porter.sizes.polynomial import Poly


def iterate(b: Builder, value: Value) -> Iteration:
    """What a `for` loop over a value runs through."""
    if isinstance(value, Iteration):
        return value
    if isinstance(value, Range):
        return Iteration(value, integer)
    if isinstance(value, Array) and value.ndim:
        value = whole(b, value)
        many = positive(b.sizes.resolve(value.shape[0]))
        return Iteration(Range(Poly(), many, 1), lambda k: row(b, value, k))
    raise b.refuse(
        "PRT902",
        "this loop does not run over `range`, an array, `enumerate` or `zip`",
        "loop over `range(n)`",
    )


def counted(loop: Iteration) -> Iteration:
    """The same items, counted from 0."""
    r = loop.range
    if r.start == Poly() and r.step == 1:
        return loop
    return Iteration(Range(Poly(), trips(r), 1), lambda k: loop.item(r.start + k * r.step))


def trips(r: Range) -> Poly:
    """How many values a range has; a negative number counts as none."""
    span, size = (r.stop - r.start) * (1 if r.step > 0 else -1), abs(r.step)
    return span if size == 1 else (span + (size - 1)) // size
