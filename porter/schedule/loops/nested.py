"""A loop for each axis, in the order of memory; the outermost runs in parallel.

Threads take microseconds to start.  What a loop of the host repeats is therefore a function over a
part of the outermost axis, which is called once for all of it where there is little to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from porter import ir
from porter.analyses.reductions import reductions
from porter.ir.effects import expressions, indices
from porter.ir.walk import statements
from porter.schedule.base import Grid, Kernel, KernelWriters
from porter.schedule.domains import loop
from porter.schedule.loops.branchless import branchless
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Dim, Poly, Symbol, sym

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
        n = {word: w.fresh(word) for word in ("part", "first", "last")} if kernel.repeated else {}
        axes = [loop(w, a) for a in kernel.axes]
        with w.slot() as body:
            w.block(branchless(kernel.body, kernel.axes, writers.buffers))
        parallel = bool(axes) and owns_updates(kernel.axes[0], kernel.body)
        split = kernel.repeated and parallel
        with w.slot() as before:
            size = w.operand(kernel.axes[0].extent) if split else ""
            work = work_of(w, kernel.axes, kernel.body) if split else ""
        return {"k": w, "axes": axes, "body": body, "parallel": parallel, "n": n, "split": split,
                "before": before, "size": size, "work": work}  # fmt: skip


def owns_updates(axis: ir.Axis, body: Sequence[ir.Stmt]) -> bool:
    """Whether each iteration along an axis updates elements that no other one updates."""
    updates = [s for s in statements(tuple(body)) if isinstance(s, ir.Write) and s.combine]
    return all(any(_along(p, axis.name) for p in s.index) for s in updates)


def _along(p: Poly, name: str) -> bool:
    """Whether a subscript is the index of an axis, or that and a fixed distance."""
    distance = p - sym(name, True)
    return all(isinstance(a, Dim) for a in distance.atoms())


def work_of(
    w: KernelWriter, axes: Iterable[ir.Axis], body: Sequence[ir.Stmt], *more: ir.Reduce
) -> str:
    """How often the innermost statement runs, as far as sizes tell."""
    axes = list(axes)
    inner = [r for s in statements(tuple(body)) for e in expressions(s) for r in reductions(e)]
    loops = [ir.Axis(s.index, s.hi, s.lo) for s in statements(tuple(body)) if isinstance(s, ir.For)]
    changing = {a.name for a in axes}.union(*(indices(s) for s in statements(tuple(body))))
    changing |= {a.name for r in more for a in r.axes}
    candidates = [r.axes for r in (*inner, *more)] + [(a,) for a in loops]
    fixed = [c for c in candidates if all(_is_fixed(a.extent, changing) for a in c)]
    deepest: Sequence[ir.Axis] = max(fixed, key=len) if fixed else ()
    return " * ".join(w.operand(a.extent) for a in (*axes, *deepest))


def _is_fixed(size: Poly, changing: set[str]) -> bool:
    """Whether a size is the same in all iterations: of sizes and of indices of the host."""
    return not size.names() & changing and all(isinstance(a, Symbol) for a in size.atoms())
