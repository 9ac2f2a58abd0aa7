"""Running folds by blocks of threads: tiles of a line, each continuing from the one before.

The inclusive scan of a tile is that of W. D. Hillis and G. L. Steele (Data parallel
algorithms, 1986).  Many lines have a block each.  A single long line is cut into as many
parts as there are blocks: one launch folds every part, the next one scans them, each block
starting from the fold of the parts before its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import reductions
from porter.analyses.scans import neutral
from porter.schedule.base import (
    BLOCK,
    FOLD_BARRIERS,
    SCAN_BARRIERS,
    Fitted,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
)
from porter.schedule.domains import flat_loop, product
from porter.schedule.steps import join, scratch, term_of
from porter.schedule.writing import KernelWriter, Loop
from porter.sizes.polynomial import Integer, Poly, sym

#: into how many parts a single line is cut
COUNT = Poly.atom(Integer("parts", True))


class ScanLines(Schedule):
    """A block for each line."""

    name = "scan"
    word = "scan"
    summary = "a running fold by blocks"
    scans = True

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A store of a scan."""
        return isinstance(s, ir.Write) and any(isinstance(r, ir.Scan) for r in reductions(s.body))

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """A block for each line, with no more threads than the line can use."""
        lines, length = product(a.extent for a in lines_of(kernel)), along(kernel).extent
        return (Grid(((lines, "1"),), Fitted(length), (lines, length)),)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A block for each line."""
        return BLOCK, lines_of(kernel)

    def barriers(self, kernel: Kernel) -> int:
        """The scan of a tile, and after it."""
        return SCAN_BARRIERS + 1

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loop over lines, and the tiles of a line."""
        w = writers.writer(kernel)
        shared = scratch(w, kernel)
        line = flat_loop(w, lines_of(kernel), "line")
        before, axis = w.fresh("before"), along(kernel)
        with w.slot() as comment:
            w.comment(kernel.folds[0].origin)
            start, lo, hi = start_of(w, _scan(kernel)), w.poly(axis.lo), w.poly(axis.hi)
        return {"k": w, "scratch": shared, "line": line, "comment": comment, "start": start,
                "first": lo, "last": hi, "tiles": tiles_of(w, kernel, before, shared)}  # fmt: skip


class ScanLine(ScanLines):
    """All blocks, for parts of the only line."""

    name = "line"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A store of a scan along its only axis."""
        return super().matches(s, buffers) and len(s.axes) == 1

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """The folds of parts, then the scans of the same parts."""
        length = along(kernel).extent
        return (
            Grid(((length, "THREADS"),), guards=(length,), few=True),
            Grid(((length, "THREADS"),), again=True),
        )

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A thread for each element."""
        return 1, kernel.axes

    def passes(self, kernel: Kernel) -> int:
        """Both launches read the line."""
        return 2

    def barriers(self, kernel: Kernel) -> int:
        """Two folds, and the scan of each tile."""
        return 2 * FOLD_BARRIERS + super().barriers(kernel)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The fold of a part; the fold of the parts before it, and its own tiles."""
        (fold,), (name, _), r = kernel.folds, kernel.reductions[0], _scan(kernel)
        only = replace(fold, value=ir.Local(name, r.dtype), store=None)
        first = writers.writer(replace(kernel, name=f"{kernel.name}_parts", axes=(), steps=(only,)))
        shared = scratch(first, kernel)
        parts = {**own_part(first, kernel), "name": name, "index": first.index(r.axes[0].name),
                 "term": term_of(first, name, r)}  # fmt: skip
        parts["join"], parts["scratch"] = join(first, r, shared)
        partial = first.gives(f"{name}_parts", r.dtype)

        w = writers.writer(kernel)
        w.gets(ir.Buffer(partial, (COUNT,), r.dtype))
        own_shared = scratch(w, kernel)
        own = own_part(w, kernel)
        before = w.fresh("before")
        w.index(along(kernel).name)
        axis = ir.Axis("part_", COUNT)
        w.names[axis.name] = w.fresh("part")
        load = ir.Load(partial, (sym(axis.name, True),), r.dtype)
        each = ir.Reduce(r.op, (axis,), load, r.dtype)
        own |= {"index": w.names[axis.name], "term": term_of(w, before, each)}
        own["join"], own["scratch"] = join(w, each, own_shared)
        return {"k": first, "scratch": shared, "parts": parts, "partial": partial, "scan": w,
                "own": own, "tiles": tiles_of(w, kernel, before, own_shared)}  # fmt: skip


def _scan(kernel: Kernel) -> ir.Scan:
    ((_, r),) = kernel.reductions
    assert isinstance(r, ir.Scan)
    return r


def along(kernel: Kernel) -> ir.Axis:
    """The axis of the store that the scan runs along."""
    return next(a for a in kernel.axes if a.name == _scan(kernel).along)


def lines_of(kernel: Kernel) -> tuple[ir.Axis, ...]:
    """The axes of the store whose elements have a line each."""
    return tuple(a for a in kernel.axes if a.name != _scan(kernel).along)


def own_part(w: KernelWriter, kernel: Kernel) -> dict[str, object]:
    """A block's part of the line: equal parts, the last ones shorter or empty."""
    names = {word: w.fresh(word) for word in ("size", "first", "last")}
    axis = along(kernel)
    with w.slot() as before:
        lo, hi, extent = w.poly(axis.lo), w.poly(axis.hi), w.poly(axis.extent)
    with w.slot() as comment:
        w.comment(kernel.folds[0].origin)
        start = start_of(w, _scan(kernel))
    return {**names, "along": Loop("", lo, hi, before), "extent": extent, "comment": comment,
            "start": start}  # fmt: skip


def start_of(w: KernelWriter, r: ir.Reduce) -> str:
    """What the fold of nothing is; of integers, an extreme starts from the first element."""
    if r.op in ("max", "min") and r.dtype.kind in "iu":
        return w.initial(r)
    return w.expr(ir.Const(neutral(r.op, r.dtype), r.dtype))


def tiles_of(
    w: KernelWriter, kernel: Kernel, before: str, shared: Mapping[str, str]
) -> dict[str, object]:
    """A tile of the line after the other; `before` is the fold of all earlier ones."""
    (fold,), (name, _), r = kernel.folds, kernel.reductions[0], _scan(kernel)
    assert fold.store is not None
    helper = f"scan_{r.op}"
    w.helper(helper)
    scratched, tile = shared[w.shared_type(r.dtype)], w.fresh("tile")
    index = w.index(r.along)
    start = start_of(w, r) if r.op in ("sum", "prod") else ""
    w.names[r.axes[0].name] = index
    term = term_of(w, name, r)
    with w.slot() as store:
        w.block([replace(fold.store, axes=(), body=fold.value)])
    return {"before": before, "tile": tile, "index": index, "name": name, "start": start,
            "term": term, "scan": helper, "scratch": scratched, "store": store}  # fmt: skip
