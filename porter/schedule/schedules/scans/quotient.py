"""Quotients of linear functions along a line, `y[i] = (p * y[i - 1] + q) / (r * y[i - 1] + s)`, by
blocks of threads.

A step is a matrix of two rows, and two of them, one after the other, are their product: H. S.
Stone, An efficient parallel algorithm for the solution of a tridiagonal linear system of equations,
1973.  A multiple of a matrix is the same step, so each product is divided by its largest number.

Where a denominator is nearly 0, or what the source computes on the way is infinite, such products
tell too little.  So each element is compared with what the step of the source makes of the one
before it (`is_near`): they differ by 32 roundings at most.  Then all of them are what a loop with
so much larger roundings computes.  A tile with another element is run through in order by one
thread.

One launch composes the steps of every part of the line.  The next one goes through all parts
without storing anything, and finds those with a tile that has to be run in order, or whose last
element is not the one before the next part.  In the last launch the first block with such a part
goes on to the end of the line, and the blocks after it leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import DType
from porter.schedule.base import SCAN_BARRIERS, Grid, Kernel, KernelWriters
from porter.schedule.schedules.scans.recurrence import (
    RecurrenceLine,
    in_order,
    number,
    parts_writer,
    stored,
    zero,
)
from porter.schedule.schedules.scans.scan import COUNT, along, own_part
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import sym

#: the numbers of a step: what the old value is multiplied with, and what is added, in both rows
_NUMBERS = ("factors", "terms", "weights", "rests")
#: by how many roundings a composed element may differ from the source's step
ROUNDINGS = 32
#: whether a part cannot be composed
_FOUND = DType("int32")


class QuotientLine(RecurrenceLine):
    """All blocks, for parts of a line whose elements are quotients with the ones before them."""

    name = "quotient"
    summary = "a recurrence of quotients by blocks"
    kind = ir.Quotient

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """The steps of parts, what is found in them, and the elements of the same parts."""
        first, then = super().launches(kernel)
        return first, then, then

    def passes(self, kernel: Kernel) -> int:
        """Each launch reads the line."""
        return 3

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile in each launch, those of the parts, and what the threads find."""
        return 5 * (SCAN_BARRIERS + 1) + 9

    def when_in_order(self) -> str:
        """What is not composed."""
        return (
            f"where elements are more than {ROUNDINGS} roundings off the source's step, one block"
        )

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The steps of a part as one; what is wrong with those of a part; and its own tiles."""
        (fold,), (name, r) = kernel.folds, kernel.reductions[0]
        assert isinstance(r, ir.Quotient)
        value = ir.Local(name, r.dtype)
        nothing = replace(r, start=zero(r), step=zero(r))
        first = parts_writer(kernel, writers, nothing)
        parts = {**_names(first, name, r), **own_part(first, kernel)}
        parts["index"] = first.index(r.axes[0].name)
        parts["step"] = _step(first, parts, (r.factor, r.body, r.weight, r.rest))
        found = first.gives(f"{name}_found", _FOUND)
        partial = [first.gives(f"{name}_{word}", r.dtype) for word in _NUMBERS]

        given = [ir.Buffer(found, (COUNT,), _FOUND)]
        given += [ir.Buffer(p, (COUNT,), r.dtype) for p in partial]
        only = replace(fold, reductions=((name, r),), value=value, store=None)
        looks = replace(kernel, name=f"{kernel.name}_checks", axes=(), steps=(only,))
        checks = writers.writer(looks)
        checked = _through(checks, kernel, name, r, given)
        w = writers.writer(kernel)
        own = _through(w, kernel, name, r, given)
        own["store"] = stored(w, kernel)
        return {"k": first, "parts": parts, "found": found, "partial": partial, "checks": checks,
                "checked": checked, "scan": w, "own": own}  # fmt: skip


def _through(
    w: KernelWriter, kernel: Kernel, name: str, r: ir.Quotient, given: Sequence[ir.Buffer]
) -> dict[str, object]:
    """The names and lines of a launch that goes through the elements of each part."""
    for buffer in given:
        w.gets(buffer)
    own = {**_names(w, name, r), **own_part(w, kernel), "part": w.fresh("part")}
    own["index"] = index = w.index(along(kernel).name)
    w.names["part_"] = str(own["part"])
    loads = [ir.Load(b.name, (sym("part_", True),), r.dtype) for b in given[1:]]
    own["before_it"] = _step(w, own, loads)
    with w.slot() as own["start_lines"]:
        own["start"] = w.expr(r.start)
    w.names[r.axes[0].name] = index
    own["step"] = _step(w, own, (r.factor, r.body, r.weight, r.rest))
    own["in_order"] = in_order(w, name, r)
    return own


def _names(w: KernelWriter, name: str, r: ir.Quotient) -> dict[str, object]:
    """The names of one kernel, and the step that changes nothing."""
    words = ("steps", "whole", "so_far", "state", "composed", "tile", "stop", "alone", "most")
    w.helper("scan_quotient")
    one, none = w.expr(number(1, r)), w.expr(number(0, r))
    return {
        **{word: w.fresh(word) for word in words},
        "name": name,
        "type": w.shared_type(r.dtype),
        "nothing": f"({one}, {none}, {none}, {one})",
        "tolerance": _tolerance(w, r),
    }


def _tolerance(w: KernelWriter, r: ir.Quotient) -> str:
    """The largest difference of an element 1; of a generic kernel's numbers, that of either."""
    double, single = (w.expr(ir.Const(ROUNDINGS * 2.0**-n, r.dtype)) for n in (52, 23))
    if r.dtype.var is None:
        return double if r.dtype.itemsize == 8 else single
    one, little = w.expr(number(1, r)), w.expr(ir.Const(2.0**-40, r.dtype))
    return f"{double} if {one} + {little} > {one} else {single}"


def _step(w: KernelWriter, names: Mapping[str, object], parts: Sequence[ir.Expr]) -> Lines:
    """The lines that compute the step of one element."""
    with w.inside(), w.slot() as lines:
        w.emit(f"{names['whole']} = ({', '.join(w.expr(e) for e in parts)})")
    return lines
