"""Folds of long columns: neighbouring threads have neighbouring columns, and share their rows.

A block has some columns side by side and folds a part of their rows.  The block of these columns
that is done last folds the parts, or a second launch where blocks cannot be counted.  So memory is
read in order, and a matrix of few columns keeps as many threads busy as one of many.  Short columns
have a thread each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import along_columns, can_share, reductions
from porter.dtypes.dtype import BOOL, DType
from porter.ir.axes import same_extents
from porter.ir.walk import loaded, rewrite, walk
from porter.schedule.base import (
    Alternative,
    Around,
    BlockStep,
    Fold,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
    Spread,
    fold_of,
)
from porter.schedule.domains import is_short, product, skips, strided, unflatten
from porter.schedule.once.spreads import with_spread
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.sharing import extreme_of, with_place
from porter.schedule.steps import (
    Item,
    carried,
    items,
    joins,
    over_domains,
    over_partials,
    part,
    pieces,
    scratch,
    terms_of,
)
from porter.schedule.within import (
    in_one_thread,
    is_simple,
    localised,
    members,
    onto_rows,
    within,
)
from porter.schedule.writing import KernelWriter, Turn, Turns
from porter.sizes.polynomial import Integer, Poly, sym

#: how many parts there are, and how many columns
PARTS, COLUMNS = Poly.atom(Integer("parts", True)), Poly.atom(Integer("columns", True))
#: the number of a thread's column where the axes are numbered together
FLAT = "column_"
#: rows of a constant number that a thread folds by itself
FEW_ROWS = 32
#: the constant of the module: turns of a panel
TURNS = Poly.atom(Integer("BLOCK_X", True))
ALONE = Elementwise()


class Columns(Schedule):
    """A column for each element of the axes; siblings over the same rows share the launches."""

    name = "columns"
    word = "columns"
    summary = "blocks of columns fold parts of them, then the parts"
    once = "one for each column"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Its reductions run over the same rows, and neighbours of it read neighbours."""
        if not isinstance(s, ir.Write) or not s.axes or not can_share(s):
            return False
        found = reductions(s.body)
        own = {a.name for a in s.axes}
        if any((a.lo.names() | a.hi.names()) & own for r in found for a in r.axes):
            return False
        return all(
            same_extents(r.axes, found[0].axes) and along_columns(s, r) and _apart(s, r)
            for r in found
        ) and not _few(found[0])  # fmt: skip

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """A fold over the same rows that needs nothing of these, and what a thread computes for
        each column."""
        if isinstance(s, ir.Write):
            fits = s.schedule is self
        else:
            fits = isinstance(s, ir.Stage) and is_simple(s) and not skips(s.body)
        if not fits or not isinstance(s, (ir.Write, ir.Stage)):
            return None
        if not same_extents(kernel.axes, s.axes):
            return None
        moved = onto_rows(kernel.axes, s)
        if not within(kernel, moved, around.aliases):
            return None
        if isinstance(moved, ir.Stage):
            return replace(kernel, steps=(*kernel.steps, moved))
        first, own = kernel.reductions[0][1], reductions(moved.body)
        if not all(same_extents(r.axes, first.axes) for r in own):
            return None
        step = fold_of(moved, around.context)
        stored = around.aliases.with_others(
            {a.buffer for a in accesses(members(kernel)) if a.write}
        )
        if loaded(*own) & stored:
            argument = _extreme(kernel, own)
            spread = None
            if not argument:
                spread = _spread(kernel, step, stored, around)
                if spread is None:
                    return None
            step = replace(step, argument=argument, spread=spread)
        return replace(kernel, steps=(*kernel.steps, step))

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """Results that only this kernel reads stay in registers."""
        found = localised(kernel, around, "column")
        steps: list[BlockStep] = []
        for old, step in zip(kernel.parts, found.parts, strict=True):
            if isinstance(step, Fold) and isinstance(old, Fold) and old.argument:
                argument = extreme_of([s for s in steps if isinstance(s, Fold)], step)
                assert argument, "the position of an extreme has lost it"
                step = replace(with_place(step, around.context.fresh), argument=argument)
            elif isinstance(step, Fold) and isinstance(old, Fold) and old.spread is not None:
                before = replace(found, steps=tuple(steps))
                about = with_spread(before, step, around.aliases, around.context.fresh)
                assert about is not None, "squares have lost the mean that they are about"
                assert about.spread is not None
                shared = about.spread in [f.spread for f in steps if isinstance(f, Fold)]
                own = replace(old.spread, total=about.spread.total)
                step = about if shared else replace(about, spread=own)
            steps.append(step)
        # the last block of some columns stores while blocks of others still read
        stored = around.aliases.with_others({a.buffer for a in accesses(members(found)) if a.write})
        alone = stored.isdisjoint(loaded(*(r for _, r in found.reductions)))
        return replace(found, steps=tuple(steps), counts=found.counts and alone)

    def in_one_block(
        self, kernel: Kernel, loops: frozenset[str] | None
    ) -> tuple[BlockStep, ...] | None:
        """Few columns, each folded by a thread."""
        if not is_short(kernel.axes, loops):
            return None
        return (ir.Stage(kernel.axes, tuple(in_one_thread(kernel.parts)), kernel.origin),)

    def alternatives(self, kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
        """A thread for each short column."""
        body = tuple(in_one_thread(kernel.parts))
        alone = replace(kernel, schedule=ALONE, body=body, steps=())
        return (Alternative(alone, "_is_short", (_rows(kernel), _columns(kernel))),)

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """Blocks of columns and of parts of them, then of columns alone."""
        columns, axes = _columns(kernel), kernel.reductions[0][1].axes
        sizes = (columns, _rows(kernel), *([axes[0].extent] if axes[1:] else []))
        if kernel.counts:
            return (Grid(columns=sizes, guards=(columns,), counted=True),)
        return Grid(columns=sizes, guards=(columns,)), Grid(columns=sizes, again=True)

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A thread for each element that is folded."""
        return 1, (*kernel.axes, *kernel.reductions[0][1].axes)

    def barriers(self, kernel: Kernel) -> int:
        """For each fold a thread waits about as often as it has rows."""
        return len(kernel.reductions)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The folds of parts, and those of the results with what is stored of them."""
        name = kernel.name if kernel.counts else f"{kernel.name}_parts"
        steps = kernel.steps if kernel.counts else _parts(kernel)
        w = writers.writer(replace(kernel, name=name, steps=steps))
        shared = scratch(w, kernel)
        (group,) = over_domains(items(kernel.folds))
        lane = _lane(w, kernel, _columns(kernel))
        first = _folds(w, group, shared, _over_rows(w, group))
        partial = {
            name: partial_of(w.gives(f"{name}_partial", dtype), dtype)
            for name, dtype in carried(group)
        }
        slots = {"k": w, "scratch": shared, "lane": lane, "fold": first, "counter": "",
                 "partials": [(name, b.name) for name, b in partial.items()]}  # fmt: skip
        if not kernel.counts:
            return slots | finish_slots(kernel, partial, writers)
        w.helper("is_last_part")
        slots["counter"] = w.counts()
        for b in partial.values():
            w.keeps(b)
        w.names[FLAT] = str(lane["flat"])
        return slots | _finished(w, _over_parts(kernel, partial), partial, shared)


def finish_slots(
    kernel: Kernel, partial: Mapping[str, ir.Buffer], writers: KernelWriters
) -> dict[str, object]:
    """The second launch: the folds of partial results, and what is stored of them."""
    last = _over_parts(kernel, partial)
    w = writers.writer(last, tuple(partial.values()))
    some = next(iter(partial.values())).name
    w.names["columns"] = f"{some}.shape[1]"
    shared = scratch(w, last)
    lane = _lane(w, kernel, COLUMNS)
    w.names[FLAT] = str(lane["flat"])
    return {"last": w, "last_scratch": shared, "last_lane": lane,
            **_finished(w, last, partial, shared)}  # fmt: skip


def _finished(
    w: KernelWriter, last: Kernel, partial: Mapping[str, ir.Buffer], shared: Mapping[str, str]
) -> dict[str, object]:
    """The folds of partial results, and what one thread of each column stores of them."""
    w.names["parts"] = f"{next(iter(partial.values())).name}.shape[0]"
    (group,) = over_domains(items(last.folds))
    folds = _folds(w, group, shared, _over_threads(w, group))
    with w.slot() as stores:
        w.block(tuple(in_one_thread(last.parts, folding=False)))
        if not stores:
            w.emit("pass")  # nothing reads the result
    return {"last_fold": folds, "stores": stores}


def partial_of(name: str, dtype: DType) -> ir.Buffer:
    """The partial results of a fold: a row for each part, an element for each column."""
    return ir.Buffer(name, (PARTS, COLUMNS), dtype)


def _apart(s: ir.Write, r: ir.Reduce) -> bool:
    """Whether no subscript is made of a row and a column: then it would be a stencil's."""
    rows, columns = {a.name for a in r.axes}, {a.name for a in s.axes}
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load)]
    return not any(p.names() & rows and p.names() & columns for e in loads for p in e.index)


def _few(r: ir.Reduce) -> bool:
    """Whether a thread for each column suffices in any case: the turns of a panel are few, too."""
    rows = product(a.extent for a in r.axes)
    return rows == TURNS or (rows.constant is not None and rows.constant < FEW_ROWS)


def _rows(kernel: Kernel) -> Poly:
    return product(a.extent for a in kernel.reductions[0][1].axes)


def _columns(kernel: Kernel) -> Poly:
    return product(a.extent for a in kernel.axes)


def _extreme(kernel: Kernel, own: Sequence[ir.Reduce]) -> str:
    """The extreme of the kernel whose first position a fold finds, if it reads only that of it."""
    results = {
        f.store.buffer: (f.store.index, f.reductions[0][0])
        for f in kernel.folds
        if f.store is not None and f.value == ir.Local(f.reductions[0][0], f.value.dtype)
    }

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or e.buffer not in results:
            return None
        index, name = results[e.buffer]
        return ir.Local(name, e.dtype) if e.index == index else None

    if len(own) != 1:
        return ""
    found = rewrite(own[0], change)
    stored = {a.buffer for a in accesses(members(kernel)) if a.write}
    if not isinstance(found, ir.Reduce) or loaded(found) & stored:
        return ""
    value = ir.Local("?", found.dtype)
    return extreme_of(kernel.folds, Fold("?", (("?", found),), value, kernel.origin))


def _spread(kernel: Kernel, step: Fold, stored: set[str], around: Around) -> Spread | None:
    """How squares are folded together with the mean, if they read only that of the kernel."""
    found = with_spread(kernel, step, around.aliases, around.context.fresh)
    apart = found is not None and not loaded(*found.operands) & stored
    return found.spread if found is not None and apart else None


def _parts(kernel: Kernel) -> tuple[Fold, ...]:
    """The folds without what is made of them."""
    return tuple(
        replace(f, value=ir.Local(f.reductions[0][0], f.reductions[0][1].dtype), store=None)
        for f in kernel.folds
    )


def _over_parts(kernel: Kernel, partial: Mapping[str, ir.Buffer]) -> Kernel:
    """The second launch: the folds are those of the partial results."""
    axis = ir.Axis("part_", PARTS)

    def load(name: str, r: ir.Reduce, at: Poly) -> ir.Load:
        return ir.Load(partial[name].name, (at, sym(FLAT, True)), r.dtype)

    def over(fold: Fold, name: str, r: ir.Reduce) -> ir.Reduce:
        found: ir.Expr = load(name, r, sym(axis.name, True))
        if fold.argument:
            first = load(name, r, Poly())
            found = ir.Select(ir.Const(True, BOOL), found, first, r.dtype)
        return ir.Reduce(r.op, (axis,), found, r.dtype)

    def last(step: BlockStep) -> BlockStep:
        if not isinstance(step, Fold):
            return step
        return over_partials(step, partial, over)

    return replace(kernel, steps=tuple(map(last, kernel.steps)))


def _lane(w: KernelWriter, kernel: Kernel, columns: Poly) -> dict[str, object]:
    """The column of a thread; those beyond the last one fold it once more, and store nothing."""
    column = w.fresh("column")
    with w.slot() as before:
        size, last = w.poly(columns), w.poly(columns - 1)
    for a in kernel.axes:
        w.index(a.name)
    only = kernel.axes[0] if len(kernel.axes) == 1 and not kernel.axes[0].lo.terms else None
    flat = w.index(only.name) if only else w.fresh("lane")
    with w.slot() as subscripts:
        if only is None:
            unflatten(w, flat, kernel.axes)
    return {"column": column, "before": before, "size": size, "last": last, "flat": flat,
            "subscripts": subscripts}  # fmt: skip


def _folds(
    w: KernelWriter, group: Sequence[Item], shared: Mapping[str, str], turns: Turns
) -> dict[str, object]:
    """What the folds start from, their loops, and how the threads of a column join theirs."""
    with w.inside():
        parts = [part(w, item) for item in group]
        terms = terms_of(w, group)
    return {"parts": parts, "turns": turns, "before": turns.before, "terms": terms,
            "pieces": pieces(w, group),
            "joins": joins(w, group, group, shared, "column")}  # fmt: skip


def _over_rows(w: KernelWriter, group: Sequence[Item]) -> Turns:
    """The rows, shared among blocks and threads along y; of several axes, the blocks have the
    first one and the threads the last one."""
    axes = group[0].r.axes
    if len(axes) == 1:
        first = "cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"
        return Turns([Turn(strided(w, axes[0]), first, "cuda.gridDim.y * cuda.blockDim.y")])
    outer, *middle, last = (strided(w, a) for a in axes)
    return Turns([
        Turn(outer, "cuda.blockIdx.y", "cuda.gridDim.y"), *(Turn(x, "0", "1") for x in middle),
        Turn(last, "cuda.threadIdx.y", "cuda.blockDim.y"),
    ])  # fmt: skip


def _over_threads(w: KernelWriter, group: Sequence[Item]) -> Turns:
    """The parts, shared among the threads along y."""
    (axis,) = group[0].r.axes
    return Turns([Turn(strided(w, axis), "cuda.threadIdx.y", "cuda.blockDim.y")])
