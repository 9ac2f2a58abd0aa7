"""An array that threads store and fold at once, and that nothing else reads, is a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses, as_local, picks, surely_writes, touches
from porter.ir.effects import defs_in, uses_in
from porter.ir.rebuild import map_exprs, rename_variables
from porter.ir.walk import loaded, rewrite, scalars_of
from porter.schedule.base import Around, Fold, Kernel
from porter.schedule.sharing import onto
from porter.schedule.within import members, with_its_name


def in_variables(kernel: Kernel, around: Around) -> Kernel:
    """The kernel with what its threads store for its own folds alone in their variables."""
    stages = [s for s in kernel.parts if isinstance(s, ir.Stage) and s.axes]
    if len(stages) != 1 or any(f.spread or f.kept for f in kernel.folds):
        return kernel
    (stage,) = stages
    for name in sorted(defs_in(stage.body).arrays):
        if _is_own(kernel, stage, name, around):
            around.dropped.add(name)
            kernel = replace(kernel, steps=tuple(_with(s, name) for s in kernel.parts))
            stage = next(s for s in kernel.parts if isinstance(s, ir.Stage) and s.axes)
    return kernel


def results_in_variables(kernel: Kernel, around: Around) -> Kernel:
    """The kernel with the results that only its last thread reads in variables of that thread."""
    for name in [f.name for f in kernel.folds]:
        (fold, *others) = [f for f in kernel.folds if f.name == name]
        if fold.store is not None and not others and _is_read_last(kernel, fold, around):
            around.dropped.add(name)
            needed = {n for f in kernel.folds if f is not fold for n in _needs(f)}
            steps = tuple(_reading(s, fold, needed) for s in kernel.parts)
            kernel = replace(kernel, steps=steps)
    return kernel


def _needs(fold: Fold) -> set[str]:
    """The folds that it is folded together with."""
    return {fold.argument} if fold.spread is None else {fold.argument, fold.spread.total}


def _is_read_last(kernel: Kernel, fold: Fold, around: Around) -> bool:
    """Whether nothing but what is computed of the kernel's results reads this one."""
    buffer, own = around.context.buffers[fold.name], members(kernel)
    if buffer.parameter or buffer.shape or around.aliases.with_others({fold.name}) != {fold.name}:
        return False
    if around.users[fold.name] != sum(fold.name in uses_in((m,)).arrays for m in own):
        return False
    # a fold would need it in all threads, and what the array held before is in no variable
    if fold.name in loaded(*(r for _, r in kernel.reductions), fold.value):
        return False
    after = kernel.parts[kernel.parts.index(fold) + 1 :]
    stored = any(fold.name in defs_in(s.body).arrays for s in after if isinstance(s, ir.Stage))
    return not stored and any(_reads(s, fold.name) for s in after)


def _reads(step: Fold | ir.Stage, name: str) -> bool:
    return name in (loaded(step.value) if isinstance(step, Fold) else uses_in((step,)).arrays)


def _reading(step: Fold | ir.Stage, fold: Fold, others: set[str]) -> Fold | ir.Stage:
    """A step that reads the variable; the fold itself, without its store, and under one name where
    no other fold needs the old one."""
    if isinstance(step, ir.Stage):
        return map_exprs(step, _variable(fold.name))
    if step is fold:
        kept = replace(step, store=None)
        return kept if fold.reductions[0][0] in others else with_its_name(kept)
    return replace(step, value=rewrite(step.value, _variable(fold.name)))


def _variable(name: str) -> Callable[[ir.Expr], ir.Expr | None]:
    """A change that reads a variable in place of the array of this name."""

    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(name, e.dtype) if isinstance(e, ir.Load) and e.buffer == name else None

    return change


def has_variables(kernel: Kernel) -> bool:
    """Whether folds need what the same thread has computed, and not stored."""
    made = {n for s in kernel.parts if isinstance(s, ir.Stage) for n in defs_in(s.body).scalars}
    return any(made & scalars_of(r) for _, r in kernel.reductions)


def _is_own(kernel: Kernel, stage: ir.Stage, name: str, around: Around) -> bool:
    """Whether a thread reads nothing of an array but the element that it has stored."""
    users = sum(name in uses_in((m,)).arrays for m in members(kernel))
    buffer = around.context.buffers[name]
    if buffer.parameter or around.users[name] != users:
        return False
    if around.aliases.with_others({name}) != {name} or any(
        name in loaded(f.value) for f in kernel.folds
    ):
        return False
    first = next(s for s in stage.body if touches(s, name))
    folds = [
        ir.Let("", onto(stage.axes, r), f.origin) for f in kernel.folds for _, r in f.reductions
    ]
    places = {a.index for a in _of(accesses((*stage.body, *folds)), name)}
    if len(places) != 1 or not all(picks(next(iter(places)), a) for a in stage.axes):
        return False
    return surely_writes(first, name)


def _under_one_name(body: tuple[ir.Stmt, ...], name: str) -> tuple[ir.Stmt, ...]:
    """The statements where `name = name_here` would be the last of them, with the one name."""
    match body[-1]:
        case ir.Let(made, ir.Local(other)) if made == name:
            earlier = {n for s in body[:-1] for n in defs_in((s,)).scalars}
            if other in earlier and name not in earlier:
                return tuple(rename_variables(s, {other: name}) for s in body[:-1])
    return body


def _of(found: Iterable[Access], name: str) -> list[Access]:
    return [a for a in found if a.buffer == name]


def _with(step: Fold | ir.Stage, name: str) -> Fold | ir.Stage:
    """A step with the variable in place of the element."""
    if isinstance(step, ir.Stage):
        return replace(step, body=_under_one_name(as_local(step.body, name, name), name))

    read = _variable(name)
    folded = tuple((n, replace(r, body=rewrite(r.body, read))) for n, r in step.reductions)
    return replace(step, reductions=folded)
