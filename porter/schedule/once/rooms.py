"""What the threads of a row keep for a later step stands in shared memory, where it has room.

Without room the row of the result takes it, which costs a store and a load of memory more.
"""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.ir.rebuild import map_exprs
from porter.schedule.base import Fold, Kernel


def kept_of_row(kernel: Kernel) -> ir.Write | None:
    """The only store of what is kept, if its row is a row of memory."""
    found = [f.kept for f in kernel.folds if f.kept is not None]
    if len(found) != 1:
        return None
    rows = {a.name for a in kernel.axes}
    *before, _ = found[0].index
    inside = {n for p in before for n in p.names()}
    return found[0] if inside <= rows else None


def in_room(kernel: Kernel, kept: ir.Write, room: str) -> Kernel:
    """The kernel with all that is kept, and read again, in the array `room` of the row."""

    def moved(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer == kept.buffer:
            return ir.Load(room, e.index[-1:], e.dtype)
        return None

    def step(s: Fold | ir.Stage) -> Fold | ir.Stage:
        if isinstance(s, ir.Stage):
            return replace(s, body=tuple(map_exprs(x, moved) for x in s.body))
        if s.kept is None:
            return s
        return replace(s, kept=replace(s.kept, buffer=room, index=s.kept.index[-1:]))

    return replace(kernel, steps=tuple(map(step, kernel.parts)))
