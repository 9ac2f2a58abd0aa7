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
from porter.sizes.polynomial import Apply, Data, Poly, minimum
from porter.sizes.shapes import product


def guarded(
    e: ir.Reduce, kept: Sequence[ir.Axis], domain: Sequence[ir.Axis], context: Context
) -> tuple[ir.Reduce, list[ir.Axis]]:
    """The reduction and its axes, the first of them empty if the rest of the domain is."""
    names = {a.name for a in kept}
    own = {a.extent for a in (*kept, *e.axes)}
    others = (a.extent for a in domain if a.name not in names)
    rest = [n for n in others if not n.is_positive() and n not in own]
    inner = [a for x in walk(e) if isinstance(x, ir.Reduce) for a in x.axes]
    if not rest or _sure(e, [*kept, *inner], context):
        return e, list(kept)
    if kept:
        return e, [_emptied(kept[0], rest), *kept[1:]]
    return replace(e, axes=(_emptied(e.axes[0], rest), *e.axes[1:])), []


def _emptied(axis: ir.Axis, rest: Sequence[Poly]) -> ir.Axis:
    none_or_more = product([axis.extent, *rest])
    return replace(axis, hi=axis.lo + minimum(axis.extent, none_or_more))


def _sure(e: ir.Reduce, running: Sequence[ir.Axis], context: Context) -> bool:
    """Whether each element that is read exists, whatever the domain is."""
    for x in walk(e):
        if isinstance(x, ir.Load):
            sizes = context.buffers[x.buffer].shape
            for p, size in zip(x.index, sizes, strict=True):
                if not _inside(*_ends(p, running), size, context):
                    return False
    return True


def _ends(p: Poly, running: Sequence[ir.Axis]) -> tuple[Poly, Poly]:
    """The first and the last position while the indices run, where it is affine in them."""
    low = high = p
    for a in reversed(running):
        first, last = a.lo, a.hi - 1
        for end in (True, False):
            q = low if end else high
            c = q.coefficient(a.name)
            if c:
                q = q.replace({a.name: first if (c > 0) == end else last})
                low, high = (q, high) if end else (low, q)
    return low, high


def _inside(low: Poly, high: Poly, size: Poly, context: Context) -> bool:
    """Whether positions are in an array; what is not affine, or read from data, counts as such."""
    if any(isinstance(a, (Apply, Data)) for p in (low, high) for a in p.atoms()):
        return True
    least = [Poly.of(1)] if size.is_positive() else []
    always = (c for c in context.checks if not c.when and not c.conditions)
    least += [c.left for c in always if c.kind == "index" and c.right == size]
    above = low.is_nonneg() or any((low - size + n).is_nonneg() for n in least)
    return above and (
        (size - high - 1).is_nonneg() or any((n - high - 1).is_nonneg() for n in least)
    )
