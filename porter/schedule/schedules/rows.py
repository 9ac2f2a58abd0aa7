"""A warp for each short row, a block for each long one: its threads fold the row together, then run
along it.

Statements over the same rows join the launch while what they read of each other stays within
the row: a softmax is a maximum, a sum of exponentials and a map.  Results that nothing else
reads stay in registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import can_share, known_bounds, reductions
from porter.ir.axes import same_extents
from porter.ir.walk import free_names, loaded, walk
from porter.schedule.base import (
    BLOCK,
    FOLD_BARRIERS,
    WARP,
    WARP_BARRIERS,
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
from porter.schedule.once.invariant import before_loops
from porter.schedule.once.keeping import keeping
from porter.schedule.once.repeated import named
from porter.schedule.once.rooms import in_room, kept_of_row
from porter.schedule.sharing import sharers, sharing
from porter.schedule.steps import fold, scratch, stage
from porter.schedule.within import Step, is_simple, localised, onto_rows, reads, within
from porter.schedule.writing import KernelWriter


class Rows(Schedule):
    """A block for each element of the axes; the steps are folds, and stages over one more axis."""

    name = "rows"
    word = "rows"
    summary = "a warp or a block per row"

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
            fits = s.schedule is self and len(s.axes) == count
        elif isinstance(s, ir.Stage):
            fits = len(s.axes) in (count, count + 1) and is_simple(s)
        else:
            return None
        if not fits or not same_extents(rows, s.axes[:count]):
            return None
        moved = onto_rows(rows, s)
        if not within(kernel, moved, around.aliases):
            return None
        value = _value(moved, count) if isinstance(moved, ir.Stage) else moved
        if value is not None:
            moved = value
        step = fold_of(moved, around.context) if isinstance(moved, ir.Write) else moved
        return replace(kernel, steps=(*kernel.steps, step))

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """What is costly is computed once for a row, or for an element."""
        moved = before_loops(self.in_registers(kernel, around), around)
        return named(keeping(moved, around), around)

    def in_registers(self, kernel: Kernel, around: Around) -> Kernel:
        """Row results that only this kernel reads stay in registers, and folds share loops."""
        found = localised(kernel, around, "row")
        steps = sharing(found.parts, _waits(found), around.context.fresh)
        return replace(found, steps=steps)

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each row, with no more threads than the first fold can use."""
        total = product(a.extent for a in kernel.axes)
        length = kernel.reductions[0][1].axes[-1].extent
        # rows of different lengths: as many threads as a block has
        same = not length.names() & {a.name for a in kernel.axes}
        kept = kept_of_row(kernel)
        fitted = Fitted(length if same else None, _by_warps(kernel), kept.buffer if kept else "")
        return (Grid(((total, "1"),), fitted, (total,), whole=True),)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A block for each long row."""
        return BLOCK, kernel.axes

    def steps_on(self, kernel: Kernel) -> bool:
        """Those of warps do."""
        return _by_warps(kernel)

    def barriers(self, kernel: Kernel) -> int:
        """Those of the folds, and between steps that read what others have stored."""
        each = WARP_BARRIERS if _by_warps(kernel) else FOLD_BARRIERS
        return len(kernel.reductions) * each + sum(_waits(kernel))

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The row, and the steps of its threads."""
        w = writers.writer(kernel)
        word, ends, waits = "block", "", _waits(kernel)
        if writers.shuffles and _by_warps(kernel):
            word, ends = "row", w.fresh("end")
            w.helper("row_of_grid", "row_part", *(["row_wait"] if any(waits) else []))
        room, kept = {}, kept_of_row(kernel) if ends else None
        if kept is not None:
            room = self._room(w, kept, writers.buffers[kept.buffer])
            kernel = in_room(kernel, kept, room["kept"])
        shared = scratch(w, kernel)
        row = flat_loop(w, kernel.axes, "row", blocks=True)
        if kept is not None:
            room["at"] = ", ".join(map(w.poly, kept.index[:-1]))
            room["length"] = w.operand(writers.buffers[kept.buffer].shape[-1])
        steps = []
        for number, (step, waiting) in enumerate(zip(kernel.parts, waits, strict=True)):
            if isinstance(step, Fold):
                read_later = reads(kernel.parts[number + 1 :], step.name)
                behind = kernel.parts[number + 1 :]
                slots = fold(w, step, shared, read_later, sharers(behind), word)
                if slots["rereads"] and ends:
                    w.helper("row_wait")
            else:
                slots = stage(w, step, len(kernel.axes), word)
            steps.append({"waits": waiting, **slots})
        return {"k": w, "scratch": shared, "row": row, "steps": steps, "ends": ends, "room": room}

    @staticmethod
    def _room(w: KernelWriter, kept: ir.Write, result: ir.Buffer) -> dict[str, str]:
        """Shared memory for what rows keep, and the array that one keeps it in."""
        own = w.fresh("kept")
        w.keeps(ir.Buffer(own, result.shape[-1:], result.dtype))
        return {
            "name": w.fresh("room"), "type": w.shared_type(result.dtype), "kept": own,
            "result": result.name,
        }  # fmt: skip


def _by_warps(kernel: Kernel) -> bool:
    """Whether the lanes of a warp can give each other what they have folded.

    Shuffles take integers and floats of 32 and 64 bits, and Numba adds integers in 64 bits.
    """

    def fits(r: ir.Reduce) -> bool:
        size = r.dtype.itemsize
        if r.dtype.kind == "i":
            return size == 8 or (size == 4 and r.op in ("max", "min"))
        return r.op in ("any", "all") or (r.dtype.kind == "f" and size >= 4)

    return all(fits(r) for _, r in kernel.reductions)


def _value(s: ir.Stage, count: int) -> ir.Write | None:
    """A store of the row's own element, if that is all: each thread has its value then."""
    store = s.body[0]
    if len(s.axes) != count or len(s.body) > 1 or not isinstance(store, ir.Write):
        return None
    if store.mask is not None or store.checked or store.combine or reductions(store.body):
        return None
    own = [p.name for p in store.index] == [a.name for a in s.axes]
    fixed = not any(isinstance(e, ir.Draw) for e in walk(store.body))
    return replace(store, axes=s.axes) if own and fixed else None


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
