"""Threads that draw random numbers: as many as there are generators share all elements."""

from __future__ import annotations

from collections.abc import Mapping

from porter import ir
from porter.ir.effects import nodes_of
from porter.ir.walk import statements
from porter.schedule.base import Grid, Kernel, KernelWriters, Schedule
from porter.schedule.domains import flat_loop, product
from porter.schedule.writing import Turn, Turns


class Drawn(Schedule):
    """Each thread has a generator of its own, and takes one element after the other."""

    name = "draws"
    summary = "a thread per generator"
    together = False

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """What draws a number, in whatever statement of a thread."""
        return any(isinstance(e, ir.Draw) for x in statements((s,)) for e in nodes_of(x))

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """No more threads than generators."""
        if not kernel.axes:
            return (Grid(threads=("1",)),)
        shape = tuple(a.extent for a in kernel.axes)
        return (Grid(((product(shape), "THREADS"),), guards=shape, draws=True),)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loop over what a thread computes, and its statements."""
        w = writers.writer(kernel)
        if not kernel.axes:
            with w.slot() as body:
                w.block(kernel.body)
            return {"k": w, "turns": (), "body": body}
        loop = flat_loop(w, kernel.axes, "element", kernel.body)
        turns = Turns([Turn(loop, "cuda.grid(1)", "cuda.gridsize(1)")])
        with w.inside(), w.slot() as body:
            w.block(kernel.body)
        return {"k": w, "turns": turns, "body": body}
