"""One value from a whole domain: all blocks fold parts of it, then one block folds the results.

That is the block that is done last, or a second launch where blocks cannot be counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import can_share, has_data, known_bounds, reductions
from porter.analyses.scalar_stages import is_of_scalars
from porter.dtypes.dtype import BOOL
from porter.ir.axes import same_extents
from porter.ir.effects import nodes_of
from porter.ir.walk import jumps, loaded, rewrite, statements
from porter.schedule.base import (
    FOLD_BARRIERS,
    Around,
    BlockStep,
    Fold,
    Grid,
    Kernel,
    KernelWriters,
    Schedule,
    fold_of,
)
from porter.schedule.domains import grouped, is_short, over_grid, product
from porter.schedule.once.spreads import with_spread
from porter.schedule.once.variables import has_variables, in_variables, results_in_variables
from porter.schedule.sharing import extreme_of, onto, with_place
from porter.schedule.steps import (
    carried,
    items,
    joins,
    keep_result,
    over_domains,
    over_partials,
    part,
    pieces,
    scratch,
    terms_of,
)
from porter.schedule.steps import passes as passes_of
from porter.schedule.within import is_simple, onto_rows, same_row
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import Integer, Poly, sym

#: how many blocks have left partial results
COUNT = Poly.atom(Integer("partials", True))


class Total(Schedule):
    """Neighbouring totals over one domain share the pass over the data."""

    name = "total"
    word = "total"
    summary = "all blocks, then the last one"
    #: whether a fold may take along what is about the result of another one
    carries: ClassVar[bool] = True

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A single element made of reductions whose bounds the host knows."""
        if not isinstance(s, ir.Write) or s.axes or not can_share(s):
            return False
        return all(known_bounds(r) for r in reductions(s.body))

    def precedes(self, stage: ir.Stage, s: ir.Write, around: Around) -> ir.Stage | None:
        """What stores an operand of the total, over the same domain: each thread folds the
        elements that it stores."""
        axes = reductions(s.body)[0].axes
        stored = {a.buffer for a in accesses(stage.body) if a.write}
        if not same_extents(stage.axes, axes) or not stored & loaded(*reductions(s.body)):
            return None
        moved = onto_rows(axes, stage)
        assert isinstance(moved, ir.Stage)
        follows = _from_nothing(s) and _follows(moved, s, around)
        return moved if _is_map(moved) and follows else None

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """A total over the same domain that needs nothing of this one, and what one thread
        computes from the results."""
        if isinstance(s, ir.Stage) and is_of_scalars(s, around.context.buffers):
            return replace(kernel, steps=(*kernel.steps, s))
        if not isinstance(s, ir.Write) or s.schedule is not self:
            return None
        first = _first(kernel)
        if not all(_follows(stage, s, around) for stage in first):
            return None
        late = [x for x in kernel.parts if isinstance(x, ir.Stage) and x not in first]
        stored = {a.buffer for x in late for a in accesses(x.body) if a.write}
        results = around.aliases.with_others(
            {*(f.name for f in kernel.folds), *stored}, arguments=True
        )
        mine = [r for _, r in kernel.folds[0].reductions]
        if not all(same_extents(r.axes, mine[0].axes) for r in [*mine, *reductions(s.body)]):
            return None
        found: Fold | None = fold_of(s, around.context)
        if {a.buffer for a in accesses((s,))} & results:
            found = _along(kernel, s, results, around) if self.carries else None
        elif first and not _from_nothing(s):
            return None
        return None if found is None else replace(kernel, steps=(*kernel.steps, found))

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """With what is stored for its folds alone, and what is read of them alone, in variables."""
        return results_in_variables(in_variables(kernel, around), around)

    def in_one_block(
        self, kernel: Kernel, loops: frozenset[str] | None
    ) -> tuple[BlockStep, ...] | None:
        """Short folds."""
        short = all(loops is None or is_short(r.axes, loops) for _, r in kernel.reductions)
        short = short and not kernel.draws and not has_variables(kernel)
        steps = (replace(s, argument="", spread=None) if isinstance(s, Fold) else s
                 for s in kernel.steps)  # fmt: skip
        return tuple(steps) if short else None

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """No more blocks than one block can fold the results of; also for an empty domain."""
        axes, counted = _widest(kernel), _in_one_launch(kernel)
        if len(axes) < 2:
            size = product(a.extent for a in axes)
            first = Grid(((size, "THREADS"),), few=True, draws=kernel.draws, counted=counted)
        else:
            shape = tuple(product(a.extent for a in group) for group in grouped(axes))
            first = Grid(shape=shape, few=True, counted=counted)
        return (first,) if counted else (first, Grid())

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A thread for each element that is folded."""
        return 1, kernel.reductions[0][1].axes

    def barriers(self, kernel: Kernel) -> int:
        """Those of the folds in either launch."""
        return 2 * FOLD_BARRIERS * len(kernel.reductions)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The folds of parts, and those of the results with what is stored of them."""
        counted = _in_one_launch(kernel)
        w = writers.writer(_named_apart(kernel) if counted else _over_parts(kernel))
        shared = scratch(w, kernel)
        partial: dict[str, ir.Buffer] = {}
        several = len(_widest(kernel)) > 1
        positions, passes = _over_grid(w, kernel, shared, partial)
        block = w.fresh("block") if several else "cuda.blockIdx.x"
        if several:
            w.helper("thread_of_block", "block_of_grid")
        last = _over_partials(kernel, partial)
        if counted:
            final, joined = w, shared
            w.helper("is_last_block")
            for b in partial.values():
                w.keeps(b)
        else:
            final = writers.writer(last, tuple(partial.values()))
            joined = scratch(final, last)
        final.names["partials"] = f"{next(iter(partial.values())).name}.shape[0]"
        last_passes = passes_of(final, items(last.folds), joined)
        with final.slot() as stores:
            for step in last.parts:
                if isinstance(step, ir.Stage):
                    final.block(step.body)
                    continue
                keep_result(final, step)
        return {"k": w, "scratch": shared, "positions": positions, "passes": passes,
                "several": several, "block": block, "counter": w.counts() if counted else "",
                "partials": [(name, b.name) for name, b in partial.items()],
                "last": final, "last_scratch": joined, "last_passes": last_passes,
                "stores": stores}  # fmt: skip


def _in_one_launch(kernel: Kernel) -> bool:
    """Whether the block that is done last folds the results."""
    return kernel.counts and not kernel.draws


def _over_parts(kernel: Kernel) -> Kernel:
    """The first launch: what each block folds, nothing of it stored."""
    parts = [replace(f, value=ir.Local(f.reductions[0][0], f.reductions[0][1].dtype), store=None)
             for f in kernel.folds]  # fmt: skip
    return replace(kernel, steps=(*_first(kernel), *parts))


def _named_apart(kernel: Kernel) -> Kernel:
    """The kernel with other names for its results than those of the arrays that have them."""
    return replace(kernel, steps=tuple(map(_apart, kernel.steps)))


def _apart(step: BlockStep) -> BlockStep:
    if not isinstance(step, Fold) or step.store is None:
        return step
    return replace(step, name=f"{step.name}_value")


def _first(kernel: Kernel) -> tuple[ir.Stage, ...]:
    """What each thread stores before it folds that."""
    return tuple(s for s in kernel.parts if isinstance(s, ir.Stage) and s.axes)


def _is_map(stage: ir.Stage) -> bool:
    """Whether threads do a little and store, each its own elements."""
    writes = [x for x in statements(stage.body) if isinstance(x, ir.Write)]
    return (
        is_simple(stage)
        and not jumps(stage.body)
        and not any(x.combine or x.checked or x.axes or has_data(x.index) for x in writes)
        and not any(x.origin.late for x in writes)
        and not any(isinstance(e, (ir.Reduce, ir.Draw)) for e in nodes_of(stage))
    )


def _from_nothing(s: ir.Write) -> bool:
    """Whether the folds start from no element: another thread may not have stored that yet."""
    return all(r.op not in ("max", "min") or r.dtype.kind == "f" for r in reductions(s.body))


def _follows(stage: ir.Stage, s: ir.Write, around: Around) -> bool:
    """Whether a thread that has done this for its elements may fold them: of what the stage
    stores, it reads its own elements alone."""
    found = reductions(s.body)
    if not all(same_extents(r.axes, stage.axes) for r in found):
        return False
    folds = [ir.Let("", onto(stage.axes, r), s.origin) for r in found]
    last = rewrite(s.body, lambda e: ir.Const(0, e.dtype) if isinstance(e, ir.Reduce) else None)
    aliases = around.aliases
    # the host tells arguments apart that the iterations of a user's loop may meet in
    looped = s.origin.construct is ir.Construct.FOR
    for x in accesses(stage.body):
        arguments = bool(aliases.arguments(x.buffer))
        if arguments and looped:
            return False
        for y in accesses((*folds, replace(s, body=last))):
            if x.buffer == y.buffer:
                own = not y.write and loaded(last).isdisjoint({y.buffer})
                if (x.write or y.write) and not (own and same_row(stage.axes, x, y)):
                    return False
            elif (x.write or y.write) and (
                aliases.meet(x.buffer, y.buffer) or (arguments and aliases.arguments(y.buffer))
            ):
                return False
    return True


def _along(kernel: Kernel, s: ir.Write, results: Collection[str], around: Around) -> Fold | None:
    """What needs results of the kernel, as a fold together with them: the first position of an
    extreme, or squares of deviations from a mean."""
    found = _argument(kernel, s, results, around)
    if found is not None or s.buffer in results or _first(kernel):
        return found
    fold = fold_of(s, around.context)
    found = with_spread(kernel, fold, around.aliases, around.context.fresh)
    if found is None or loaded(*found.operands) & {*results}:
        return None
    return found


def _argument(kernel: Kernel, s: ir.Write, results: Collection[str], around: Around) -> Fold | None:
    """The first position of an extreme that the kernel finds, as a fold together with it."""
    names = {f.name: f.reductions[0][0] for f in kernel.folds
             if f.value == ir.Local(f.reductions[0][0], f.reductions[0][1].dtype)}  # fmt: skip

    def change(e: ir.Expr) -> ir.Expr | None:
        known = isinstance(e, ir.Load) and e.buffer in names and not e.index
        return ir.Local(names[e.buffer], e.dtype) if known and isinstance(e, ir.Load) else None

    body = rewrite(s.body, change)
    found = fold_of(replace(s, body=body), around.context)
    argument = extreme_of(kernel.folds, found)
    if not argument or loaded(body) & {*results}:
        return None
    return replace(with_place(found, around.context.fresh), argument=argument)


def _widest(kernel: Kernel) -> tuple[ir.Axis, ...]:
    """The domain that decides about the grid: the first of those with most axes."""
    return max((r.axes for _, r in kernel.reductions), key=len)


def _over_grid(
    w: KernelWriter, kernel: Kernel, shared: Mapping[str, str], partial: dict[str, ir.Buffer]
) -> tuple[Lines, list[dict[str, object]]]:
    """The parts of the folds that a block makes, each an element of an array of partial results.

    Folds over one domain share the pass over it.
    """
    groups = over_domains(items(kernel.folds))
    first = [s for stage in _first(kernel) for s in stage.body]
    passes: list[dict[str, object]] = []
    with w.inside():
        domains = [group[0].r.axes for group in groups]
        positions, turns = over_grid(w, domains, len(grouped(_widest(kernel))))
        for group, own in zip(groups, turns, strict=True):
            with w.slot() as stores:
                w.block(first)
            parts = [part(w, item) for item in group]
            # the place of an extreme may start from a bound of the loop
            parts[0] = replace(parts[0], before=Lines([*parts[0].before, *own.before]))
            passes.append({
                "parts": parts, "joins": joins(w, group, group, shared),
                "turns": own, "pieces": pieces(w, group),
                "terms": Lines([*stores, *terms_of(w, group)]),
            })  # fmt: skip
            for name, dtype in carried(group):
                given = w.gives(f"{name}_partial", dtype)
                partial[name] = ir.Buffer(given, (COUNT,), dtype)
    return positions, passes


def _over_partials(kernel: Kernel, partial: Mapping[str, ir.Buffer]) -> Kernel:
    """The second launch: a block that folds the partial results and stores the values."""
    axis = ir.Axis("k_", COUNT)

    def load(name: str, r: ir.Reduce, at: Poly) -> ir.Load:
        return ir.Load(partial[name].name, (at,), r.dtype)

    def over(fold: Fold, name: str, r: ir.Reduce) -> ir.Reduce:
        found: ir.Expr = load(name, r, sym(axis.name, True))
        if fold.argument:
            found = ir.Select(ir.Const(True, BOOL), found, load(name, r, Poly()), r.dtype)
        return ir.Reduce(r.op, (axis,), found, r.dtype)

    def last(step: BlockStep) -> BlockStep:
        if not isinstance(step, Fold):
            return step
        return _apart(over_partials(step, partial, over))

    name = f"{kernel.name}_finish"
    steps = [last(s) for s in kernel.steps if s not in _first(kernel)]
    return replace(kernel, name=name, axes=(), steps=tuple(steps))
