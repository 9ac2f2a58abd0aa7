"""What reductions depend on: whether threads can share one, whether the host knows its bounds."""

from __future__ import annotations

from collections.abc import Iterable

from porter import ir
from porter.ir.walk import children
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
