"""Running folds and linear recurrences along each row: a block for each one that is long.

A thread for each row would read and store elements that are a row apart from those of the threads
beside it, and of few rows most of a GPU would have none.  A block goes through its row as it does
through a part of a single line (`scan.py`, `recurrence.py`), with the same roundings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.schedule.base import (
    SCAN_BARRIERS,
    Alternative,
    Around,
    Kernel,
    KernelWriters,
    fold_of,
)
from porter.schedule.domains import flat_loop, product
from porter.schedule.schedules.scans.recurrence import linear_elements, remark_of
from porter.schedule.schedules.scans.scan import ScanLines, along, lines_of, start_of, tiles_of
from porter.schedule.steps import scratch
from porter.schedule.writing import KernelWriter, Lines
from porter.transforms.loops.scans.rows import row_scan


class ScanRows(ScanLines):
    """A block for each row; what the row starts with comes before its elements."""

    name = "row_scan"
    summary = "a running fold or a recurrence, a block for each row"

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile and after it, and those around the first stores of a row."""
        return SCAN_BARRIERS + 1 + 2 * bool(_stores(kernel))

    def remark(self, kernel: Kernel) -> str:
        """That of a recurrence by blocks, for the rows that have one."""
        r = kernel.reductions[0][1]
        if not isinstance(r, ir.Linear):
            return ""
        said = remark_of(kernel, "in tiles with a factor beyond 1, one thread")
        return f"where rows are long, {said}" if said else ""

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loop over rows, the first statements of each, and its tiles."""
        w = writers.writer(kernel)
        (_, r), axis = kernel.reductions[0], along(kernel)
        shared = {} if isinstance(r, ir.Linear) else scratch(w, kernel)
        row = flat_loop(w, lines_of(kernel), "row")
        with w.slot() as head:
            w.block([s for s in kernel.body if isinstance(s, ir.Let)])
        stores = _first_stores(w, kernel)
        with w.slot() as comment:
            w.comment(kernel.folds[0].origin)
            lo, hi = w.poly(axis.lo), w.poly(axis.hi)
        slots = {"k": w, "scratch": shared, "row": row, "head": head, "stores": stores,
                 "comment": comment, "linear": isinstance(r, ir.Linear)}  # fmt: skip
        if isinstance(r, ir.Linear):
            return slots | linear_elements(w, kernel, lo, hi)
        start = start_of(w, r)
        tiles = tiles_of(w, kernel, w.fresh("before"), shared)
        return slots | {"start": start, "first": lo, "last": hi, "tiles": tiles}


def _stores(kernel: Kernel) -> list[ir.Write]:
    """What is stored before the elements of a row."""
    return [s for s in kernel.body if isinstance(s, ir.Write)]


def _first_stores(w: KernelWriter, kernel: Kernel) -> Lines:
    """The lines with which the first thread of a block stores them."""
    with w.inside(), w.slot() as lines:
        w.block(_stores(kernel))
    return lines


ROW_SCAN = ScanRows()


def in_rows(kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
    """The alternative for threads that go through a row each."""
    context = around.context
    if context.schedules and not any(isinstance(s, ScanLines) for s in context.schedules):
        return ()
    found = row_scan(kernel.axes, kernel.body, context)
    if found is None:
        return ()
    stored = {found.scan.buffer, *(s.buffer for s in found.stores)}
    if around.aliases.with_others(stored) != stored:
        return ()
    fold = replace(fold_of(found.scan, context), origin=found.origin)
    scan = replace(kernel, schedule=ROW_SCAN, axes=found.scan.axes, steps=(fold,),
                   body=(*found.lets, *found.stores))  # fmt: skip
    rows = product(a.extent for a in kernel.axes)
    return (Alternative(scan, "_is_long", (along(scan).extent, rows)),)
