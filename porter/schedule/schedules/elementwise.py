"""A thread for each element; the fastest axis along x, so that memory is read in order."""

from __future__ import annotations

from collections.abc import Mapping

from porter import ir
from porter.schedule.base import BlockStep, Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import is_short, loop

#: threads of a block along x, y and z
_THREADS = {0: ("1",), 1: ("THREADS",), 2: ("BLOCK_X", "BLOCK_Y"),
            3: ("BLOCK_X", "BLOCK_Y", "BLOCK_Z")}  # fmt: skip


class Elementwise(Schedule):
    """Grid-stride loops over the last three axes, loops of the thread over those before them."""

    name = "map"
    summary = "a thread per element"
    together = False

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Any statement can be a thread's own."""
        return True

    def in_one_block(self, kernel: Kernel, loops: frozenset[str]) -> tuple[BlockStep, ...] | None:
        """Short work, shared among the threads of the block."""
        if not is_short(kernel.axes, loops):
            return None
        return (ir.Stage(kernel.axes, kernel.body, kernel.origin),)

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A thread for each element, up to the limit of a grid."""
        extents = tuple(a.extent for a in kernel.axes[-3:])
        threads = _THREADS[len(extents)]
        return (Grid(tuple(zip(reversed(extents), threads, strict=False)), threads, extents),)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops, and the statements in them."""
        w = writers.writer(kernel)
        outer, grid = kernel.axes[:-3], kernel.axes[-3:]
        names = [w.index(a.name) for a in kernel.axes][len(outer) :]
        several = len(grid) > 1
        firsts = [w.fresh(f"first_{n}") for n in names] if several else []
        steps = [w.fresh(f"step_{n}") for n in names] if several else []
        outer_loops, grid_loops = [loop(w, a) for a in outer], [loop(w, a) for a in grid]
        with w.slot() as body:
            w.block(kernel.body)
        return {"k": w, "outer": outer_loops, "grid": grid_loops, "firsts": firsts,
                "steps": steps, "body": body}  # fmt: skip
