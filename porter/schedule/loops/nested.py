"""A loop for each axis, in the order of memory; the outermost runs in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from porter import ir
from porter.ir.walk import statements
from porter.schedule.base import Grid, Kernel, KernelWriters
from porter.schedule.domains import loop
from porter.schedule.schedules.elementwise import Elementwise
from porter.sizes.polynomial import Dim, Poly, sym

#: a call is the launch: there are no blocks to choose
CALL = Grid(threads=("1",))


class Nested(Elementwise):
    """What the iterations of all axes do, in one another."""

    word = "loops"
    summary = "loops over the elements"

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call; loops over nothing do nothing."""
        return (CALL,)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops, the first one parallel where no update meets another one, and the body."""
        w = writers.writer(kernel)
        axes = [loop(w, a) for a in kernel.axes]
        with w.slot() as body:
            w.block(kernel.body)
        shared = bool(axes) and not owns_updates(kernel.axes[0], kernel.body)
        return {"k": w, "axes": axes, "body": body, "range": "range" if shared else "prange"}


def owns_updates(axis: ir.Axis, body: Sequence[ir.Stmt]) -> bool:
    """Whether each iteration along an axis updates elements that no other one updates."""
    updates = [s for s in statements(tuple(body)) if isinstance(s, ir.Write) and s.combine]
    return all(any(_along(p, axis.name) for p in s.index) for s in updates)


def _along(p: Poly, name: str) -> bool:
    """Whether a subscript is the index of an axis, or that and a fixed distance."""
    distance = p - sym(name, True)
    return all(isinstance(a, Dim) for a in distance.atoms())
