"""One value from a whole domain: parts of it are folded in parallel, then their results.

There are as many parts on every machine, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.ir.walk import loaded, substitute
from porter.schedule.base import Around, Fold, Grid, Kernel, KernelWriters
from porter.schedule.domains import loop
from porter.schedule.loops.branchless import without_branches
from porter.schedule.loops.nested import CALL, FIRST, counted, work_of
from porter.schedule.schedules.total import Total
from porter.schedule.steps import comment, keep_result, term_of
from porter.schedule.writing import KernelWriter, Lines


class LoopTotal(Total):
    """The outermost axis is cut into parts."""

    summary = "parts in parallel, then their results"
    distinct = True
    carries = False

    def precedes(self, stage: ir.Stage, s: ir.Write, around: Around) -> ir.Stage | None:
        """Nothing: a part stores nothing but its result."""
        return None

    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """One call, also for an empty domain."""
        return (CALL,)

    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """The loops over a part, the loop over the parts, and what is stored."""
        w = writers.writer(kernel)
        n = {word: w.fresh(word) for word in ("part", "last")} | {"first": w.index(FIRST)}
        first = kernel.reductions[0][1].axes[0]
        outer = loop(w, first)
        with w.slot() as extent:
            size = w.operand(first.extent)
            work = work_of(w, (), (), kernel.reductions[0][1]) if kernel.repeated else ""
        quick = ((f, name, without_branches(r, (), writers.buffers))
                 for f in kernel.folds for name, r in f.reductions)  # fmt: skip
        folds = [_part(w, fold, name, r, n) for fold, name, r in quick]
        w.forget()
        with w.slot() as stores:
            for step in kernel.parts:
                if isinstance(step, ir.Stage):
                    w.block(step.body)
                    continue
                keep_result(w, step)
        # what only the store of the result touches, the parts are not given
        read = loaded(*(r for _, r in kernel.reductions))
        stored = {f.store.buffer for f in kernel.folds if f.store is not None} - read
        given = ", ".join(a for a in w.args.split(", ") if a not in stored)
        names = ", ".join(str(f["name"]) for f in folds)
        places = ", ".join(f"{f['partial']}[{n['part']}]" for f in folds)
        return {"k": w, "n": n, "names": names, "given": given, "places": places, "outer": outer,
                "extent": Lines([*outer.before, *extent]), "size": size, "folds": folds,
                "stores": stores, "work": work}  # fmt: skip


def _part(
    w: KernelWriter, fold: Fold, name: str, r: ir.Reduce, n: Mapping[str, str]
) -> dict[str, object]:
    """A fold over a part of the outermost axis, and over the results of the parts."""
    quoted = comment(w, fold.origin)
    partial = w.fresh(f"{name}_parts")
    with w.inside():
        with w.slot() as before:
            start = w.initial(r)
        index = w.index(r.axes[0].name)
        from_first = len(r.axes) == 1 and r.axes[0].lo.is_nonneg()
        if from_first:
            r = replace(r, body=substitute(r.body, counted(r.axes[0])))
        inner = [loop(w, a) for a in r.axes[1:]]
        term = term_of(w, name, r)
    joined = w.fold(r, name, f"{partial}[{n['part']}]", in_order=True)
    return {"comment": Lines([*quoted, *before]), "before": before, "name": name, "start": start,
            "index": index, "inner": inner, "term": term, "joined": joined, "partial": partial,
            "from_first": from_first,
            "type": w.shared_type(r.dtype)}  # fmt: skip
