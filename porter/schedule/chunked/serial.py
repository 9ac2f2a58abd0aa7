"""The loops over a block on one thread: Dask runs several blocks at once."""

from __future__ import annotations

from collections.abc import Mapping

from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import loop
from porter.schedule.loops.nested import CALL
from porter.schedule.loops.rows import LoopRows
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

    @property
    def iteration(self) -> Schedule:
        """The loops of a block."""
        return SERIAL


SERIAL = Serial()
