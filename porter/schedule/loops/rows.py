"""A row after the other, in parallel: its folds and maps are loops of one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.walk import statements
from porter.schedule.base import Around, BlockStep, Fold, Kernel, Schedule
from porter.schedule.loops.nested import Nested
from porter.schedule.once.keeping import keeping, with_kept
from porter.schedule.schedules.rows import Rows


class LoopRows(Rows):
    """Finds what stays within a row; the statements of the row are those of an iteration."""

    word = "rows"
    summary = "loops over the rows"
    distinct = True

    @property
    def iteration(self) -> Schedule:
        """What runs the statements of a row."""
        return NESTED

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """The next statement, unless it would end the iteration before what follows."""
        if isinstance(s, ir.Stage) and len(s.axes) == len(kernel.axes):
            if any(isinstance(x, ir.Jump) for x in statements(s.body)):
                return None
        return super().absorb(kernel, s, around)

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """The loops over rows, with the steps as statements."""
        kernel = keeping(self.in_registers(kernel, around), around)
        body = tuple(in_order(kernel.steps, len(kernel.axes)))
        return replace(kernel, schedule=self.iteration, body=body, steps=())


NESTED = Nested()


def in_order(steps: Sequence[BlockStep], outer: int) -> Iterator[ir.Stmt]:
    """The steps as statements of one thread; stages have so many axes of the kernel's."""
    kept: ir.Write | None = None
    for step in steps:
        if isinstance(step, Fold):
            kept = kept if step.shared else step.kept
            yield from folded(step, kept)
            continue
        assert isinstance(step, ir.Stage)
        body = step.body
        for a in reversed(step.axes[outer:]):
            body = (ir.For(a.name, a.lo, a.hi, 1, body, step.origin),)
        yield from body


def folded(step: Fold, kept: ir.Write | None) -> Iterator[ir.Stmt]:
    """A fold as variables, and the store of its value.

    `kept` is what this fold, or the first of those that share a loop, keeps of its terms: it is
    stored before it is folded.
    """
    if step.kept is not None:
        axis = step.reductions[0][1].axes[0]
        store = replace(step.kept, axes=())
        yield ir.For(axis.name, axis.lo, axis.hi, 1, (store,), step.origin)
    for name, r in step.reductions:
        yield ir.Let(name, r if kept is None else with_kept(r, kept), step.origin)
    value = ir.Local(step.name, step.value.dtype)
    if step.value != value:
        yield ir.Let(step.name, step.value, step.origin)
    if step.store is not None:
        yield replace(step.store, axes=(), body=value)
