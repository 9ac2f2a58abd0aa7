"""What is costly to compute stays in the array that the row is stored into, not computed again.

A softmax adds up exponentials and divides each by their sum: a thread leaves its own in the
result, and divides them there.  Nobody else reads or stores these elements in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.axes import symbols
from porter.ir.rebuild import map_exprs
from porter.ir.walk import always, free_names, loaded, rewrite, substitute, walk
from porter.ir.weights import op_weight, weight
from porter.schedule.base import Around, Fold, Kernel
from porter.schedule.sharing import Step, sharers
from porter.schedule.within import members

#: what the call of a function weighs: less is computed again
_CALL = op_weight("exp")


def keeping(kernel: Kernel, around: Around) -> Kernel:
    """The kernel with folds that leave what a later stage would compute again."""
    steps = list(kernel.parts)
    for at, step in enumerate(steps):
        if not isinstance(step, ir.Stage):
            continue
        store = _own_elements(kernel, step, around)
        folds = [k for k, f in enumerate(steps[:at]) if isinstance(f, Fold) and not f.shared]
        for number in folds if store is not None else ():
            fold = steps[number]
            if store is None or not isinstance(fold, Fold) or fold.kept is not None:
                continue
            again = _again((fold, *sharers(steps[number + 1 : at])), step.axes[-1], store.body)
            if again is not None and not _written(steps, again):
                there = {step.axes[-1].name: symbols(fold.reductions[0][1].axes)[0]}
                index = tuple(p.replace(there) for p in store.index)
                kept = replace(
                    store, index=index, body=substitute(again, there), origin=fold.origin
                )
                steps[number] = replace(fold, kept=kept)
                steps[at] = replace(step, body=(_reading(store, again),))
                break
    return replace(kernel, steps=tuple(steps))


def _own_elements(kernel: Kernel, step: ir.Stage, around: Around) -> ir.Write | None:
    """The store of a stage if each element is one thread's, and new, and of no other use."""
    store = step.body[0]
    if len(step.axes) != len(kernel.axes) + 1 or len(step.body) > 1:
        return None
    if not isinstance(store, ir.Write) or store.mask is not None or store.checked or store.combine:
        return None
    known = around.context.buffers.get(store.buffer)
    if known is None or known.parameter or known.dtype != store.body.dtype:
        return None
    if len(around.aliases.with_others({store.buffer})) > 1:
        return None
    if sum(a.buffer == store.buffer for a in accesses(members(kernel))) > 1:
        return None
    own = {p.name for p in store.index}
    return store if all(a.name in own for a in step.axes) else None


def _again(folds: Sequence[Fold], axis: ir.Axis, body: ir.Expr) -> ir.Expr | None:
    """The largest costly part of what folds reduce in one loop that a stage computes again."""
    reductions = [r for f in folds for _, r in f.reductions]
    # a thread has the same indices of both
    if any(len(r.axes) > 1 or (r.axes[0].lo, r.axes[0].hi) != (axis.lo, axis.hi)
           for r in reductions):  # fmt: skip
        return None
    known = {e for e in walk(body) if e.dtype == body.dtype and _is_costly(e)}
    found = [
        same
        for r in reductions
        for e in always(r.body)
        if (same := substitute(e, {r.axes[0].name: symbols([axis])[0]})) in known
        and axis.name in free_names(same)
    ]
    return max(found, key=weight, default=None)


def _is_costly(e: ir.Expr) -> bool:
    """Whether a function is called, and gives the same each time."""
    parts = list(walk(e))
    draws = any(isinstance(x, ir.Draw) for x in parts)
    return not draws and any(isinstance(x, ir.Op) and op_weight(x.op) >= _CALL for x in parts)


def _written(steps: Sequence[Step], e: ir.Expr) -> bool:
    """Whether a step stores into what an expression reads: later it would have another value."""
    stores = {f.store.buffer for f in steps if isinstance(f, Fold) and f.store is not None}
    bodies = [s for step in steps if isinstance(step, ir.Stage) for s in step.body]
    return bool(loaded(e) & (stores | {a.buffer for a in accesses(bodies) if a.write}))


def _reading(store: ir.Write, again: ir.Expr) -> ir.Write:
    """The store with what was kept in the place of what it would compute."""
    load = ir.Load(store.buffer, store.index, again.dtype)
    return map_exprs(store, lambda e: load if e == again else None)


def with_kept(r: ir.Reduce, kept: ir.Write) -> ir.Reduce:
    """A fold of what was stored just before, over the same indices."""
    load = ir.Load(kept.buffer, kept.index, kept.body.dtype)
    return replace(r, body=rewrite(r.body, lambda e: load if e == kept.body else None))
