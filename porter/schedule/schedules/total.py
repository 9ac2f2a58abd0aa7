"""One value from a whole domain: all blocks fold parts of it, then one block folds the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.reductions import can_share, known_bounds, reductions
from porter.analyses.scalar_stages import is_of_scalars
from porter.ir.axes import same_extents
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
from porter.schedule.domains import flat_loop, is_short, product
from porter.schedule.steps import comment, element, join, part, scratch, term_of
from porter.schedule.writing import KernelWriter, Lines
from porter.sizes.polynomial import Integer, Poly, sym

#: how many blocks have left partial results
COUNT = Poly.atom(Integer("partials", True))


class Total(Schedule):
    """Neighbouring totals over one domain share the pass over the data."""

    name = "total"
    word = "total"
    summary = "all blocks, then one"

    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """A single element made of reductions whose bounds the host knows."""
        if not isinstance(s, ir.Write) or s.axes or not can_share(s):
            return False
        return all(known_bounds(r) for r in reductions(s.body))

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """A total over the same domain that needs nothing of this one, and what one thread
        computes from the results."""
        if isinstance(s, ir.Stage) and is_of_scalars(s, around.context.buffers):
            return replace(kernel, steps=(*kernel.steps, s))
        if not isinstance(s, ir.Write) or s.schedule is not self:
            return None
        stored = {a.buffer for a in accesses(kernel.statements) if a.write}
        results = around.aliases.with_others({*(f.name for f in kernel.folds), *stored})
        if {a.buffer for a in accesses((s,))} & results:
            return None
        mine = [r for _, r in kernel.folds[0].reductions]
        if not all(same_extents(r.axes, mine[0].axes) for r in [*mine, *reductions(s.body)]):
            return None
        return replace(kernel, steps=(*kernel.steps, fold_of(s, around.context)))

    def in_one_block(self, kernel: Kernel, loops: frozenset[str]) -> tuple[BlockStep, ...] | None:
        """Short folds."""
        short = all(is_short(r.axes, loops) for _, r in kernel.reductions)
        return kernel.steps if short else None

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """No more blocks than one block can fold the results of; also for an empty domain."""
        size = product(a.extent for a in kernel.reductions[0][1].axes)
        return Grid(((size, "THREADS"),), few=True), Grid()

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """A thread for each element that is folded."""
        return 1, kernel.reductions[0][1].axes

    def barriers(self, kernel: Kernel) -> int:
        """Those of the folds in either launch."""
        return 2 * FOLD_BARRIERS * len(kernel.reductions)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The folds of parts, and those of the results with what is stored of them."""
        parts = [replace(f, value=ir.Local(f.reductions[0][0], f.reductions[0][1].dtype),
                         store=None) for f in kernel.folds]  # fmt: skip
        w = writers.writer(replace(kernel, steps=tuple(parts)))
        shared = scratch(w, kernel)
        partial: dict[str, ir.Buffer] = {}
        folds = [_over_grid(w, f, name, r, shared, partial)
                 for f in kernel.folds for name, r in f.reductions]  # fmt: skip
        last = _over_partials(kernel, partial)
        final = writers.writer(last, tuple(partial.values()))
        final.names["partials"] = f"{next(iter(partial.values())).name}.shape[0]"
        joined = scratch(final, last)
        joins = [{"comment": comment(final, f.origin), "part": part(final, name, r, joined)}
                 for f in last.folds for name, r in f.reductions]  # fmt: skip
        with final.slot() as stores:
            for step in last.parts:
                if isinstance(step, ir.Stage):
                    final.block(step.body)
                    continue
                assert step.store is not None
                value = final.expr(step.value)
                final.emit(f"{element(final, step.store)} = {value}")
        return {"k": w, "scratch": shared, "folds": folds, "last": final,
                "last_scratch": joined, "joins": joins, "stores": stores}  # fmt: skip


def _over_grid(
    w: KernelWriter, fold: Fold, name: str, r: ir.Reduce, shared: Mapping[str, str],
    partial: dict[str, ir.Buffer],
) -> dict[str, object]:  # fmt: skip
    """The part of a fold that a block makes, an element of an array of partial results."""
    quoted = comment(w, fold.origin)
    with w.inside():
        with w.slot() as before:
            initial = w.initial(r)
        elements = flat_loop(w, r.axes, "element")
        term = term_of(w, name, r)
    joined, own = join(w, r, shared)
    given = w.gives(f"{name}_partial", r.dtype)
    partial[name] = ir.Buffer(given, (COUNT,), r.dtype)
    return {"comment": Lines([*quoted, *before]), "name": name, "initial": initial,
            "elements": elements, "term": term, "join": joined, "scratch": own,
            "partial": given}  # fmt: skip


def _over_partials(kernel: Kernel, partial: Mapping[str, ir.Buffer]) -> Kernel:
    """The second launch: a block that folds the partial results and stores the values."""
    axis = ir.Axis("k_", COUNT)

    def over(name: str, r: ir.Reduce) -> ir.Reduce:
        load = ir.Load(partial[name].name, (sym(axis.name, True),), r.dtype)
        return ir.Reduce(r.op, (axis,), load, r.dtype)

    def last(step: BlockStep) -> BlockStep:
        if not isinstance(step, Fold):
            return step
        reductions = tuple((n, over(n, r)) for n, r in step.reductions)
        return replace(step, name=f"{step.name}_value", reductions=reductions)

    name = f"{kernel.name}_finish"
    return replace(kernel, name=name, axes=(), steps=tuple(map(last, kernel.steps)))
