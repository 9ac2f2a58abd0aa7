"""Sums for a row of neighbours at once: matrix products, and sums along another axis than the last.

A sum for each element would read memory with gaps.  Here the loop over the elements of a row is
the innermost one, so that both operands are read in order, and the sums of some columns at a time
stay in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import along_columns, can_share, reductions
from porter.ir.rebuild import rename_axes
from porter.ir.walk import substitute
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.loops.nested import CALL, FIRST, counted, work_of
from porter.schedule.steps import comment, element


class Columns(Schedule):
    """The outer axes, blocks of columns, the axes of the sum, and the columns of a block."""

    name = "columns"
    word = "columns"
    summary = "sums for some columns at a time"
    distinct = True

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """One reduction that reads neighbours for neighbours, and does not run along them."""
        if not isinstance(s, ir.Write) or not s.axes or not can_share(s):
            return False
        found = reductions(s.body)
        if len(found) != 1 or found[0].op in ("any", "all"):
            return False
        return along_columns(s, found[0])

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call."""
        return (CALL,)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops, what a sum starts from, its term, and the store of its value."""
        w = writers.writer(kernel)
        (fold,) = kernel.folds
        ((name, r),) = fold.reductions
        assert fold.store is not None
        words = ("block", "width", "sums", "part", "begin", "end")
        n = {word: w.fresh(word) for word in words}
        n["first"] = w.index(FIRST)
        moved = counted(kernel.axes[-1])
        r = replace(r, body=substitute(r.body, moved))
        target = rename_axes(fold.store, moved)
        quoted = comment(w, fold.origin)
        *outer, columns = [loop(w, a) for a in kernel.axes]
        with w.slot() as before:
            size = w.operand(kernel.axes[-1].extent)
            rows = w.operand(kernel.axes[0].extent) if outer else ""
            work = work_of(w, kernel.axes, (), r) if kernel.repeated else ""
        at = f"{n['sums']}[{columns.index}]"
        with w.inside():
            with w.slot() as start:
                initial = w.initial(r)
                w.emit(f"{at} = {initial}")
            inner = [loop(w, a) for a in r.axes]
            with w.slot() as term:
                w.emit(w.fold(r, at, in_order=True))
        with w.slot() as store:
            if fold.value == ir.Local(name, r.dtype):
                w.emit(f"{element(w, target)} = {at}")
            else:
                w.emit(f"{name} = {at}")
                w.block([replace(target, axes=(), body=substitute(fold.value, moved))])
        return {"k": w, "n": n, "comment": quoted, "outer": outer, "columns": columns,
                "before": before, "size": size, "start": start, "inner": inner, "term": term,
                "store": store, "type": w.shared_type(r.dtype), "work": work,
                "rows": rows}  # fmt: skip
