"""A block for each row: its threads fold the row together, then run along it.

Statements over the same rows join the launch while what they read of each other stays within
the row: a softmax is a maximum, a sum of exponentials and a map.  Results that nothing else
reads stay in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.analyses.reductions import can_share, known_bounds, reductions
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents, symbols
from porter.ir.effects import uses_in
from porter.ir.rebuild import map_exprs, rename_axes
from porter.ir.walk import free_names, loaded, rewrite, scalars_of, statements, walk
from porter.schedule.base import (
    BLOCK,
    FOLD_BARRIERS,
    Around,
    Fitted,
    Fold,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
    fold_of,
)
from porter.schedule.domains import flat_loop, product
from porter.schedule.sharing import sharers, sharing
from porter.schedule.steps import fold, scratch, stage

WARP = 32
Step = Fold | ir.Stage


class Rows(Schedule):
    """A block for each element of the axes; the steps are folds, and stages over one more axis."""

    name = "rows"
    word = "rows"
    summary = "a block per row"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Its reductions read long rows in the order of memory."""
        if not isinstance(s, ir.Write) or not s.axes or not can_share(s):
            return False
        found = reductions(s.body)
        # how many threads a row needs is asked once, for all rows
        own = {a.name for a in s.axes}
        if any((a.lo.names() | a.hi.names()) & own for r in found for a in r.axes):
            return False
        return all(along_fast_axis(r) and not _along_output(s, r) and not _short(r) for r in found)

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """The next statement as a step, if it stays within the row."""
        rows, count = kernel.axes, len(kernel.axes)
        if isinstance(s, ir.Write):
            fits = s.schedule is self
        elif isinstance(s, ir.Stage):
            fits = len(s.axes) in (count, count + 1) and _is_simple(s)
        else:
            return None
        if not fits or not same_extents(rows, s.axes[:count]):
            return None
        moved = _onto(rows, s)
        if not _within(kernel, moved, around.aliases):
            return None
        step = fold_of(moved, around.context) if isinstance(moved, ir.Write) else moved
        return replace(kernel, steps=(*kernel.steps, step))

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """Row results that only this kernel reads stay in registers."""
        found = _localised(kernel, around)
        steps = sharing(found.parts, _waits(found), around.context.fresh)
        return replace(found, steps=steps)

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each row, with no more threads than the first fold can use."""
        total = product(a.extent for a in kernel.axes)
        length = kernel.reductions[0][1].axes[-1].extent
        # rows of different lengths: as many threads as a block has
        same = not length.names() & {a.name for a in kernel.axes}
        return (Grid(((total, "1"),), Fitted(length if same else None), (total,)),)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A block for each row."""
        return BLOCK, kernel.axes

    def barriers(self, kernel: Kernel) -> int:
        """Those of the folds, and between steps that read what others have stored."""
        return len(kernel.reductions) * FOLD_BARRIERS + sum(_waits(kernel))

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loop over rows, and the steps in it."""
        w = writers.writer(kernel)
        shared = scratch(w, kernel)
        row = flat_loop(w, kernel.axes, "row")
        steps = []
        for number, (step, waits) in enumerate(zip(kernel.parts, _waits(kernel), strict=True)):
            if isinstance(step, Fold):
                read_later = _reads(kernel.parts[number + 1 :], step.name)
                behind = kernel.parts[number + 1 :]
                slots = fold(w, step, shared, read_later, sharers(behind))
            else:
                slots = stage(w, step, len(kernel.axes))
            steps.append({"waits": waits, **slots})
        return {"k": w, "scratch": shared, "row": row, "steps": steps}


def _short(r: ir.Reduce) -> bool:
    """Whether most threads of a block would have nothing to do along the last axis."""
    extent = r.axes[-1].extent.constant
    return extent is not None and extent < WARP


def _along_output(s: ir.Write, r: ir.Reduce) -> bool:
    """Whether neighbouring elements of a matrix or more read neighbours, or the same elements.

    Then a thread for each of them reads in coalesced order and needs no barriers: the sums of
    a convolution or of a small product of matrices.  A vector has too few elements for that.
    """
    if len(s.axes) < 2:
        return False
    inner = {a.name for a in r.axes}
    out, last = s.axes[-1].name, r.axes[-1].name
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load) and free_names(e) & inner]
    along_last = [e for e in loads if e.index[-1].coefficient(last)]
    along_out = [e for e in loads if e.index[-1].coefficient(out)]
    return bool(along_out) and not any(out in free_names(e) for e in along_last)


def along_fast_axis(r: ir.Reduce) -> bool:
    """Whether neighbours along the last reduced index are neighbours in memory."""
    if not known_bounds(r):
        return False
    name = r.axes[-1].name
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load) and e.index]
    return any(e.index[-1].coefficient(name) in (1, -1) for e in loads)


def _onto(rows: Sequence[ir.Axis], s: ir.Write | ir.Stage) -> ir.Write | ir.Stage:
    """The statement over the kernel's own rows."""
    axes = s.axes
    values = {
        b.name: symbols([a])[0] - a.lo + b.lo for a, b in zip(rows, axes[: len(rows)], strict=True)
    }
    moved = rename_axes(replace(s, axes=()), values)
    assert isinstance(moved, (ir.Write, ir.Stage))
    rest = tuple(
        ir.Axis(a.name, a.hi.replace(values), a.lo.replace(values)) for a in axes[len(rows) :]
    )
    return replace(moved, axes=(*rows, *rest))


def _members(kernel: Kernel) -> list[ir.Write | ir.Stage]:
    """The statements that the steps came from."""
    steps = (s.store if isinstance(s, Fold) else s for s in kernel.parts)
    return [s for s in steps if s is not None]


def _within(kernel: Kernel, s: ir.Stmt, aliases: Aliases) -> bool:
    """Whether everything that both touch, one of them writing, stays in the row's block."""
    related = False
    for x in accesses(_members(kernel)):
        for y in accesses((s,)):
            if x.buffer != y.buffer:
                if (x.write or y.write) and aliases.meet(x.buffer, y.buffer):
                    return False
                if x.write and aliases.arguments(x.buffer) and aliases.arguments(y.buffer):
                    return False
                continue
            related = True
            if x.write and y.write:
                return False  # the first result would have to go through memory
            if (x.write or y.write) and not _same_row(kernel.axes, x, y):
                return False
    return related


def _localised(kernel: Kernel, around: Around) -> Kernel:
    members = _members(kernel)
    inside = Counter(name for m in members for name in {a.buffer for a in accesses((m,))})
    names: dict[str, str] = {}
    stored: set[str] = set()
    places = {m.buffer: m.index for m in members if isinstance(m, ir.Write)}
    for name in (f.name for f in kernel.folds):
        own = places[name]
        # read at other places than this kernel stores
        elsewhere = any(a.buffer == name and a.index != own for a in accesses(members))
        alone = around.users.get(name) == inside[name] and not elsewhere
        if alone and not around.context.buffers[name].parameter:
            names[name] = name
            around.dropped.add(name)
        else:
            names[name] = around.context.fresh(f"row_{name}")
            stored.add(name)

    # a step reads what the array held before it: only later ones read its result
    known: dict[str, str] = {}

    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in known and e.index == places[e.buffer]:
            return ir.Local(known[e.buffer], e.dtype)
        return None

    steps: list[Step] = []
    for step in kernel.parts:
        steps.append(_named(_localise(step, names, stored, change), stored))
        if isinstance(step, Fold):
            known[step.name] = names[step.name]
    return replace(kernel, steps=tuple(steps))


def _named(step: Step, stored: set[str]) -> Step:
    """A result that is just one fold and stays in the kernel: the fold takes its name."""
    if not isinstance(step, Fold) or step.store is not None or len(step.reductions) != 1:
        return step
    name, r = step.reductions[0]
    if step.value != ir.Local(name, r.dtype) or step.name in stored:
        return step
    return replace(step, reductions=((step.name, r),), value=ir.Local(step.name, r.dtype))


def _localise(
    step: Step, names: dict[str, str], stored: set[str], change: Callable[[ir.Expr], ir.Expr | None]
) -> Step:
    def expr(e: ir.Expr) -> ir.Expr:
        return rewrite(e, change)

    if isinstance(step, ir.Stage):
        body = tuple(map_exprs(s, change) for s in step.body)
        return replace(step, body=body)
    folded = tuple((n, expr(r)) for n, r in step.reductions)
    return Fold(
        names[step.name],
        tuple((n, r) for n, r in folded if isinstance(r, ir.Reduce)),
        expr(step.value),
        step.origin,
        step.store if step.name in stored else None,
    )


def _is_simple(s: ir.Stage) -> bool:
    """No loops or early exits in it: a plain map."""
    return not any(isinstance(x, (ir.For, ir.While, ir.Def, ir.Return)) for x in statements(s.body))


def _same_row(rows: Sequence[ir.Axis], x: Access, y: Access) -> bool:
    for axis in rows:
        dims = range(min(len(x.index), len(y.index)))
        if not any(x.index[d].name == axis.name == y.index[d].name for d in dims):
            return False
    return True


def _reads(steps: Sequence[Step], name: str) -> bool:
    """Whether one of the steps uses the local variable."""
    for step in steps:
        if isinstance(step, ir.Stage):
            found = uses_in(step.body).scalars
        else:
            found = frozenset[str]().union(*map(scalars_of, step.operands))
        if name in found:
            return True
    return False


def _needs_barrier(previous: Sequence[Step], step: Step, rows: int) -> bool:
    """Whether a step touches what other threads of the block wrote (or read) before it."""
    stages = [p for p in previous if isinstance(p, ir.Stage)]
    if isinstance(step, Fold):
        folded = loaded(*step.operands)
        return any(a.write and a.buffer in folded for p in stages for a in accesses(p.body))
    # every thread reads what the value of a fold is made of, or the first one does that stores it
    values = [p.value for p in previous if isinstance(p, Fold)]
    if any(a.write and a.buffer in loaded(*values) for a in accesses(step.body)):
        return True
    for p in stages:
        one_thread = len(p.axes) == rows or len(step.axes) == rows
        for x in accesses(p.body):
            for y in accesses(step.body):
                shared = x.buffer == y.buffer and (x.write or y.write)
                if shared and (one_thread or x.index != y.index):
                    return True
    return False


def _waits(kernel: Kernel) -> list[bool]:
    """Whether a barrier comes before each step."""
    found: list[bool] = []
    previous: list[Step] = []
    for step in kernel.parts:
        found.append(_needs_barrier(previous, step, len(kernel.axes)))
        if found[-1]:
            previous = []
        if isinstance(step, Fold):
            # the barriers of a fold come before its own value
            previous = [p for p in previous if isinstance(p, ir.Stage)]
        previous.append(step)
    return found
