"""A thread for each element; the fastest axis along x, so that memory is read in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.ir.rebuild import map_blocks
from porter.schedule.base import (
    Alternative,
    Around,
    BlockStep,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
)
from porter.schedule.domains import flat_loop, is_short, loop
from porter.schedule.schedules.private import crowded
from porter.schedule.schedules.scans.rows import in_rows
from porter.schedule.writing import Lines


class Elementwise(Schedule):
    """A grid over the columns, the rows, and the planes that all other axes make."""

    name = "map"
    summary = "a thread per element"
    together = False

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Any statement can be a thread's own."""
        return True

    def in_one_block(
        self, kernel: Kernel, loops: frozenset[str] | None
    ) -> tuple[BlockStep, ...] | None:
        """Short work, shared among the threads of the block."""
        if not is_short(kernel.axes, loops):
            return None
        return (ir.Stage(kernel.axes, kernel.body, kernel.origin),)

    def alternatives(self, kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
        """Sums in shared memory, where many threads add to few elements; blocks for long rows."""
        return (*crowded(kernel, around), *in_rows(kernel, around)) if kernel.axes else ()

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A thread for each element."""
        shape = tuple(a.extent for a in kernel.axes)
        return (Grid(shape=shape, threads=() if shape else ("1",), guards=shape),)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """What the indices are compared with, and the statements of a thread."""
        w = writers.writer(kernel)
        for a in kernel.axes:
            w.index(a.name)
        *outer, middle, last = (None, None, *kernel.axes)
        columns = loop(w, last) if last else None
        rows = loop(w, middle) if middle else None
        planes = flat_loop(w, [a for a in outer if a], "plane") if middle and any(outer) else None
        with w.slot() as before:
            height = w.poly(middle.extent) if middle and planes else ""
        used = [x for x in (planes, rows, columns) if x]
        lowest = last.lo.constant if last else None
        if rows:
            w.helper("grid_2d", *(["grid_3d"] if planes else []))
        with w.slot() as body:
            w.block([_returning(s) for s in kernel.body])
        return {
            "k": w, "before": Lines([*(line for x in used for line in x.before), *before]),
            "columns": columns, "rows": rows, "planes": planes, "height": height, "body": body,
            "offsets": Lines(f"{x.index} += {x.lo}" for x in used if x.lo != "0"),
            # the compiler drops the tests for negative subscripts
            "at_least": f"{lowest} <= " if lowest is not None and lowest >= 0 else "",
        }  # fmt: skip


def _returning(s: ir.Stmt) -> ir.Stmt:
    """The thread is done with its element where the loop over elements would continue."""
    if isinstance(s, ir.Jump):
        return replace(s, kind="return")
    if isinstance(s, ir.If):
        return map_blocks(s, lambda body: tuple(_returning(x) for x in body))
    return s
