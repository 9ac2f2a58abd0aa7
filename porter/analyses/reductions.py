"""What reductions depend on: whether threads can share one, whether the host knows its bounds."""

from __future__ import annotations

from collections.abc import Iterable

from porter import ir
from porter.ir.walk import children, free_names, walk
from porter.sizes.polynomial import Data, Poly


def reductions(expr: ir.Expr) -> list[ir.Reduce]:
    """The outermost reductions of an expression."""
    if isinstance(expr, ir.Reduce):
        return [expr]
    return [r for c in children(expr) for r in reductions(c)]


def can_share(s: ir.Write) -> bool:
    """Whether a plain store of reductions: threads can work on an element of it together."""
    plain = s.mask is None and s.combine is None and not has_data(s.index)
    return plain and bool(reductions(s.body))


def has_data(index: Iterable[Poly]) -> bool:
    """Whether a subscript is read from data."""
    return any(isinstance(a, Data) for p in index for a in p.atoms())


def known_bounds(r: ir.Reduce) -> bool:
    """Whether the host knows the bounds of the reduction."""
    bounds = [p for a in r.axes for p in (a.lo, a.hi)]
    if any(isinstance(x, Data) for p in bounds for x in p.atoms()):
        return False
    inner = {a.name for a in r.axes}
    return not any(p.names() & inner for p in bounds)


def along_columns(s: ir.Write, r: ir.Reduce) -> bool:
    """Whether neighbours along the last axis of a store read neighbours in memory."""
    column, inner = s.axes[-1].name, {a.name for a in r.axes}
    if isinstance(r, ir.Scan) or not known_bounds(r):
        return False
    if any((a.lo.names() | a.hi.names()) & {column} for a in r.axes):
        return False
    if any(isinstance(e, ir.Reduce) for e in walk(r.body)):
        return False
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load) and e.index]
    ours = [e for e in loads if e.index[-1].coefficient(column) in (1, -1)]
    gaps = [e for e in loads if free_names(e) & inner and column in free_names(e) and e not in ours]
    return any(free_names(e) & inner for e in ours) and not gaps
