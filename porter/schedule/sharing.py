"""Folds that share a loop: independent ones, and an extreme with its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile

from porter import ir
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import same_extents, symbols
from porter.ir.walk import loaded, rewrite, scalars_of, substitute
from porter.schedule.base import Fold
from porter.sizes.polynomial import Poly, maximum

Step = Fold | ir.Stage


def sharing(
    steps: Sequence[Step], waits: Sequence[bool], fresh: Callable[[str], str]
) -> tuple[Step, ...]:
    """The steps with folds after each other in one loop where that is possible."""
    found: list[Step] = []
    together: list[Fold] = []
    for step, waiting in zip(steps, waits, strict=True):
        if isinstance(step, Fold):
            joined = None if waiting or not together else _joined(together, step, fresh)
            together = [step] if joined is None else [*together, joined]
            step = step if joined is None else joined
        else:
            together = []
        found.append(step)
    return tuple(found)


def sharers(steps: Sequence[Step]) -> list[Fold]:
    """The first of the steps that share the loop before them."""
    return [
        s for s in takewhile(lambda s: isinstance(s, Fold) and s.shared, steps)
        if isinstance(s, Fold)
    ]  # fmt: skip


def onto(axes: Sequence[ir.Axis], r: ir.Reduce) -> ir.Reduce:
    """The fold over other indices, of a domain that is as large."""
    moved = {
        b.name: own - a.lo + b.lo for own, a, b in zip(symbols(axes), axes, r.axes, strict=True)
    }
    return ir.Reduce(r.op, tuple(axes), substitute(r.body, moved), r.dtype)


def _joined(folds: Sequence[Fold], step: Fold, fresh: Callable[[str], str]) -> Fold | None:
    """The step in the loop of earlier ones."""
    stored = {f.store.buffer for f in folds if f.store is not None}
    if loaded(*(r for _, r in step.reductions)) & stored:
        return None
    argument = extreme_of(folds, step)
    if argument:
        return replace(with_place(step, fresh), shared=True, argument=argument)
    return replace(step, shared=True) if _siblings(folds, step) else None


def with_place(step: Fold, fresh: Callable[[str], str]) -> Fold:
    """The step with a name for what its fold finds, unless the source has one."""
    ((old, r),) = step.reductions
    if old == step.name:
        return step
    name = fresh("place")

    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(name, r.dtype) if e == ir.Local(old, r.dtype) else None

    return replace(step, reductions=((name, r),), value=rewrite(step.value, change))


def _siblings(folds: Sequence[Fold], step: Fold) -> bool:
    """Whether what a step reduces has the domains of earlier ones, and nothing of their results."""
    domains = [r.axes for f in folds for _, r in f.reductions]
    own = [r for _, r in step.reductions]
    if not all(any(same_extents(r.axes, axes) for axes in domains) for r in own):
        return False
    results = {f.name for f in folds} | {name for f in folds for name, _ in f.reductions}
    return not any(scalars_of(r) & results for r in own)


def extreme_of(folds: Sequence[Fold], step: Fold) -> str:
    """The extreme whose first position a step finds, or ''; none has two."""
    taken = {f.argument for f in folds}
    if len(step.reductions) != 1:
        return ""
    ((_, r),) = step.reductions
    for f in folds:
        for name, best in f.reductions:
            alike = best.op in ("max", "min") and same_extents(best.axes, r.axes)
            if not alike or name in taken or best.dtype.kind not in "fiu" or _is_index(best):
                continue
            names = {name, *([f.name] if f.value == ir.Local(name, best.dtype) else [])}
            if any(r == _first_of(best, r.axes, n) for n in names):
                return name
    return ""


def _is_index(best: ir.Reduce) -> bool:
    """Whether values and positions would have one array in shared memory."""
    return best.dtype.var is None and best.dtype.name == INT64.name


def _first_of(best: ir.Reduce, axes: tuple[ir.Axis, ...], name: str) -> ir.Reduce:
    """The first position of an extreme, as `argmax` and `argmin` are lowered."""
    value = onto(axes, best).body
    hit: ir.Expr = ir.Op("eq", (value, ir.Local(name, best.dtype)), BOOL)
    if best.dtype.kind == "f":
        hit = ir.Op("or", (hit, ir.Op("isnan", (value,), BOOL)), BOOL)
    position, size = Poly(), Poly.of(1)
    for index, a in zip(symbols(axes), axes, strict=True):
        position = position * a.extent + index - a.lo
        size = size * (a.extent if a.extent.is_nonneg() else maximum(a.extent, 0))
    found = ir.Select(hit, ir.Value(position, INT64), ir.Value(size, INT64), INT64)
    return ir.Reduce("min", axes, found, INT64)
