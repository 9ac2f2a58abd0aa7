"""The loops over a block on one thread: Dask runs several blocks at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.schedule.base import Around, Grid, Kernel, KernelWriters
from porter.schedule.domains import loop
from porter.schedule.loops.nested import CALL
from porter.schedule.loops.rows import LoopRows, in_order
from porter.schedule.schedules.elementwise import Elementwise


class Serial(Elementwise):
    """What the iterations of all axes do, in one another."""

    word = "loops"
    values = True
    summary = "loops over a block"

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call."""
        return (CALL,)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops, and the body."""
        w = writers.writer(kernel)
        axes = [loop(w, a) for a in kernel.axes]
        with w.slot() as body:
            w.block(kernel.body)
        return {"k": w, "axes": axes, "body": body}


class SerialRows(LoopRows):
    """The folds and maps of a row, in one launch."""

    word = "loops"

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """The steps as statements of one row."""
        kernel = super(LoopRows, self).finish(kernel, around)
        body = tuple(in_order(kernel.steps, len(kernel.axes)))
        return replace(kernel, schedule=SERIAL, body=body, steps=())


SERIAL = Serial()
