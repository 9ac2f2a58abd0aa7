"""Reductions taken out of a domain that may be empty: their reads were after its loops.

`for i in range(n): x[i] += y[0].sum()` reads nothing if `n` is 0, and only then may `y` be
empty. Where no test of the arguments has made sure of the element, the reduction runs over
nothing when the domain that it was taken out of does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.walk import walk
from porter.sizes.polynomial import Poly, minimum
from porter.sizes.shapes import product


def guarded(
    e: ir.Reduce, kept: Sequence[ir.Axis], domain: Sequence[ir.Axis], context: Context
) -> tuple[ir.Reduce, list[ir.Axis]]:
    """The reduction and its axes, the first of them empty if the rest of the domain is."""
    names = {a.name for a in kept}
    rest = [a.extent for a in domain if a.name not in names and not a.extent.is_positive()]
    inner = [a for x in walk(e) if isinstance(x, ir.Reduce) for a in x.axes]
    if not rest or _sure(e, names | {a.name for a in inner}, context):
        return e, list(kept)
    if kept:
        return e, [_emptied(kept[0], rest), *kept[1:]]
    return replace(e, axes=(_emptied(e.axes[0], rest), *e.axes[1:])), []


def _emptied(axis: ir.Axis, rest: Sequence[Poly]) -> ir.Axis:
    none_or_more = product([axis.extent, *rest])
    return replace(axis, hi=axis.lo + minimum(axis.extent, none_or_more))


def _sure(e: ir.Reduce, running: set[str], context: Context) -> bool:
    """Whether each element that is read exists, whatever the domain is."""
    for x in walk(e):
        if isinstance(x, ir.Load):
            sizes = context.buffers[x.buffer].shape
            for p, size in zip(x.index, sizes, strict=True):
                if not p.names() & running and not _inside(p, size, context):
                    return False
    return True


def _inside(p: Poly, size: Poly, context: Context) -> bool:
    least = [Poly.of(1)] if size.is_positive() else []
    always = (c for c in context.checks if not c.when and not c.conditions)
    least += [c.left for c in always if c.kind == "index" and c.right == size]
    low = p.is_nonneg() or any((p - size + n).is_nonneg() for n in least)
    return low and ((size - p - 1).is_nonneg() or any((n - p - 1).is_nonneg() for n in least))
