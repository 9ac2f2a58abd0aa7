"""A schedule that is not porter's: added by its class and its template alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from porter import ir
from porter.analyses.reductions import can_share, known_bounds, reductions
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.steps import comment, element, term_of


class WarpRows(Schedule):
    """32 threads for each row: no more would have work where rows are short."""

    name = "warp"
    word = "warps"
    summary = "a warp per row"
    folder = Path(__file__).parent

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """One fold along one axis for each element of a vector."""
        if not isinstance(s, ir.Write) or len(s.axes) != 1 or not can_share(s):
            return False
        found = reductions(s.body)
        return len(found) == 1 and len(found[0].axes) == 1 and known_bounds(found[0])

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Eight rows in a block."""
        extent = kernel.axes[0].extent
        return (Grid(((extent, "8"),), ("32", "8"), (extent,)),)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A warp for each row."""
        return 32, kernel.axes

    def barriers(self, kernel: Kernel) -> int:
        """Before the parts are joined, and after that."""
        return 2

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The rows, a thread's part of one, and how the parts are joined."""
        w = writers.writer(kernel)
        (fold,), ((name, r),) = kernel.folds, kernel.reductions
        assert fold.store is not None
        shared, lane, first, other = map(w.fresh, ("lanes", "lane", "first", "other"))
        rows, quoted = loop(w, kernel.axes[0]), comment(w, fold.origin)
        with w.inside():
            with w.slot() as before:
                initial = w.initial(r)
            columns, term = loop(w, r.axes[0]), term_of(w, name, r)
        join = w.fold(r, name, f"{shared}[cuda.threadIdx.y, {other}]")
        with w.slot() as store:
            w.emit(f"{element(w, fold.store)} = {w.expr(fold.value)}")
        return {"k": w, "shared": shared, "type": w.shared_type(r.dtype), "lane": lane,
                "first": first, "other": other, "rows": rows, "columns": columns,
                "comment": quoted, "before": before, "name": name, "initial": initial, "term": term,
                "join": join, "store": store}  # fmt: skip
