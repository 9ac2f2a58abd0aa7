"""Sums within bounds, `y[i] = min(max(y[i - 1] + b[i], low[i]), high[i])`, by blocks of threads.

A step is what it adds and its two bounds.  After (b, low, high), another one (c, low', high') makes
(b + c, low + c, high + c), the latter two bounded by it: an associative operation, as the sum and
the maximum in place of the product and the sum of linear steps.  Such steps are composed as those
are (`recurrence.py`), by the same launches; the values before a tile go through its steps at last.

What is rounded otherwise: each element is still a sum of the terms since it was last at a bound, or
that bound, and `n` steps round at most `n` times more.

Sums of numbers up to a limit are composed (`composable`): a few of them are finite, and integers do
not wrap around.  A tile with a step beyond it, or with NaN, or with such an element before it or in
it, is run through in order by one thread, with the step of the source.  The first block whose part
has such a step, or leaves such a value, goes on to the end of the line, and all blocks find the
same one: a prefix of parts is composed in the same order by each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.recurrences import endless, limit_of
from porter.schedule.base import SCAN_BARRIERS, Kernel, KernelWriters
from porter.schedule.schedules.scans.recurrence import (
    RecurrenceLine,
    given_parts,
    in_order,
    parts_writer,
    stored,
    zero,
)
from porter.schedule.schedules.scans.scan import own_part
from porter.schedule.writing import KernelWriter, Lines

#: the numbers of a step: what is added, and the bounds
_NUMBERS = ("sum", "low", "high")


class BoundedLine(RecurrenceLine):
    """All blocks, for parts of a line whose elements are bounded sums."""

    name = "bounded"
    summary = "a bounded recurrence by blocks"
    kind = ir.Bounded

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile in each launch and that of the parts, and what the threads find."""
        return 3 * (SCAN_BARRIERS + 1) + 3

    def when_in_order(self) -> str:
        """What is not composed."""
        return "where values are huge or not finite, one block"

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The steps of a part as one; those of the parts before it, and its own tiles."""
        name, r = kernel.reductions[0]
        assert isinstance(r, ir.Bounded)
        nothing = replace(r, start=zero(r), step=zero(r))
        first = parts_writer(kernel, writers, nothing)
        parts = {**_names(first, name, r), **own_part(first, kernel)}
        parts["index"] = first.index(r.axes[0].name)
        parts["step"] = _step(first, parts, (r.body, r.low, r.high))
        partial = [first.gives(f"{name}_{word}", r.dtype) for word in _NUMBERS]

        w = writers.writer(kernel)
        own = {**_names(w, name, r), **own_part(w, kernel)}
        loads = given_parts(w, own, kernel, partial)
        own["before_it"] = _step(w, own, loads)
        with w.slot() as own["start_lines"]:
            own["start"] = w.expr(r.start)
        w.names[r.axes[0].name] = str(own["index"])
        own["step"] = _step(w, own, (r.body, r.low, r.high))
        own["in_order"] = in_order(w, name, r)
        own["store"] = stored(w, kernel)
        return {"k": first, "parts": parts, "partial": partial, "scan": w, "own": own}


def _names(w: KernelWriter, name: str, r: ir.Bounded) -> dict[str, object]:
    """The names of one kernel, the limits of its numbers, and the step that changes nothing."""
    words = ("steps", "whole", "so_far", "state", "before", "tile", "stop", "alone", "limit",
             "endless")  # fmt: skip
    w.helper("scan_bounded")
    names = {word: w.fresh(word) for word in words}
    nothing = f"({w.expr(zero(r))}, -{names['endless']}, {names['endless']})"
    largest, most = (w.expr(ir.Const(f(r.dtype), r.dtype)) for f in (limit_of, endless))
    return {**names, "name": name, "type": w.shared_type(r.dtype), "nothing": nothing,
            "largest": largest, "most": most}  # fmt: skip


def _step(w: KernelWriter, names: Mapping[str, object], parts: Sequence[ir.Expr]) -> Lines:
    """The lines that compute the step of one element."""
    with w.inside(), w.slot() as lines:
        w.emit(f"{names['whole']} = ({', '.join(w.expr(e) for e in parts)})")
    return lines
