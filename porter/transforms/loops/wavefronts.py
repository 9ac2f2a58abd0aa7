"""Nests of two loops whose points can be reached along slanted fronts.

`u[i, j]` computed from `u[i - 1, j]` and `u[i, j - 1]` makes both loops sequential, but all
points with one value of `i + j` are independent.  The host steps through the fronts
`front = a * i + b * j`, a launch runs the points of one.  The factors are the first for which
every dependence leads to a later front, so each point sees exactly the values that it sees in
the user's order (Lamport's hyperplane method, 1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from porter import ir
from porter.analyses.dependence import Nest, Pair, Site, sites
from porter.dtypes.dtype import WEAK_INT
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.effects import axes_of, defs_in, exposed_scalars, nodes_of, uses
from porter.ir.walk import jumps, loaded, statements
from porter.sizes.affine import combine
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym

#: factors of the two loops' steps, the least slanted first
SLOPES = ((0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3))


@dataclass(frozen=True)
class _Fronts:
    """`front = a * i + b * j`: `point` is the index that a launch runs over, `other` follows."""

    name: str
    point: str
    other: str
    other_at: Poly
    lo: Poly
    hi: Poly
    starts: Poly
    stops: Poly


def wavefront(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """A nest of two sequential loops as a host loop over fronts, or None where that is wrong."""
    nested = _nested(loop)
    if nested is None:
        return None
    inner, body = nested
    lets = defs_in(body).scalars
    if lets & (after | exposed_scalars(body)) or not _threadlike(body):
        return None
    ranges = (Range.of(loop), Range.of(inner))
    nest = Nest(ranges, context.here.loops, context.buffers)
    found = sites(body)
    if not _is_table(found, loop.index, inner.index):
        return None
    for a, b in SLOPES:
        steps = (a * loop.step, b * inner.step)
        if not _legal(nest, found, steps):
            continue
        fronts = _fronts(ranges, steps, context)
        if fronts is not None:
            return _launches(loop, inner, body, fronts, context)
    return None


def _nested(loop: ir.For) -> tuple[ir.For, tuple[ir.Stmt, ...]] | None:
    """The inner loop and its body, variables of the outer one put into it."""
    *lets, inner = loop.body or (None,)
    if not isinstance(inner, ir.For) or not all(isinstance(s, ir.Let) for s in lets):
        return None
    if abs(loop.step) != 1 or abs(inner.step) != 1:
        return None
    heads = tuple(s for s in lets if isinstance(s, ir.Let))
    names = {s.name for s in heads}
    if loaded(*(s.value for s in heads)) & defs_in(inner.body).arrays:
        return None
    if any(isinstance(e, ir.Reduce) for s in heads for e in nodes_of(s)):
        return None
    if names & defs_in(inner.body).scalars:
        return None
    if names & uses(inner).scalars:
        return None
    return inner, (*heads, *inner.body)


def _threadlike(body: Sequence[ir.Stmt]) -> bool:
    """Whether one thread can run the body, to its end."""
    for s in statements(tuple(body)):
        if not isinstance(s, (ir.Let, ir.Write, ir.If, ir.For, ir.While, ir.Jump)) or axes_of(s):
            return False
    return not jumps(body)


def _is_table(found: Sequence[Site], first: str, second: str) -> bool:
    """Whether every store names both indices.

    Sweeps over one row (a bubble sort) would only overlap a little, for a launch each time.
    """
    stores = [s.access for s in found if s.access.write]
    return all({first, second} <= {n for p in a.index for n in p.names()} for a in stores)


def _legal(nest: Nest, found: Sequence[Site], steps: tuple[int, int]) -> bool:
    """Whether no point needs another one of the same front or of a later one."""

    def not_later(pair: Pair) -> None:
        gap: dict[str, int] = {}
        for r, step in zip(nest.loops, steps, strict=True):
            gap = combine(gap, 1, {r.index: 1, r.index + "'": -1}, step)
        pair.system.inequalities.append(gap)

    for x in found:
        for y in found:
            if x.access.buffer != y.access.buffer or not (x.access.write or y.access.write):
                continue
            if any(nest.meet(x, y, level, not_later) for level in (0, 1)):
                return False
    return True


# -- where the fronts are -----------------------------------------------------------------


def _fronts(
    ranges: tuple[Range, Range], steps: tuple[int, int], context: Context
) -> _Fronts | None:
    """The bounds of the fronts and of the points on one, by elimination."""
    first, second = ranges
    name = context.fresh("front")
    front = sym(name)
    a, b = steps
    if abs(b) == 1:
        point, other, own, factor = first, second, a, b
    else:
        point, other, own, factor = second, first, b, a
    at = (front - own * sym(point.index)) * factor
    bounds = []
    for r in ranges:
        i = sym(r.index)
        lo, hi = (r.lo, r.hi - 1) if r.step > 0 else (r.hi + 1, r.lo)
        bounds += [i - _bare(lo, ranges), _bare(hi, ranges) - i]
    forms = [p.replace({other.index: at}) for p in bounds]
    return _eliminated(forms, name, point.index, other.index, at)


def _bare(poly: Poly, ranges: Sequence[Range]) -> Poly:
    """With the indices as plain symbols, whatever is known of their signs."""
    return poly.replace({r.index: sym(r.index) for r in ranges})


def _eliminated(forms: list[Poly], name: str, point: str, other: str, at: Poly) -> _Fronts | None:
    factors = [p.coefficient(point) for p in forms]
    if any(c is None for c in factors):
        return None
    pairs = [(p - c * sym(point), c) for p, c in zip(forms, factors, strict=True) if c is not None]
    lower = [(p, c) for p, c in pairs if c > 0]
    upper = [(p, -c) for p, c in pairs if c < 0]
    fixed = [p for p, c in pairs if c == 0]
    fixed += [p * d + q * c for p, c in lower for q, d in upper]
    starts = [_divided_up(-p, c) for p, c in lower]
    stops = [q // d + 1 for q, d in upper]
    lows: list[Poly] = []
    highs: list[Poly] = []
    for p in fixed:
        c = p.coefficient(name)
        if c is None:
            return None
        rest = p - c * sym(name)
        if c > 0:
            lows.append(_divided_up(-rest, c))
        elif c < 0:
            highs.append(rest // -c + 1)
    if not (starts and stops and lows and highs):
        return None
    return _Fronts(name, point, other, at, reduce(maximum, lows), reduce(minimum, highs),
                   reduce(maximum, starts), reduce(minimum, stops))  # fmt: skip


def _divided_up(p: Poly, c: int) -> Poly:
    return p if c == 1 else (p + (c - 1)) // c


# -- the launches -------------------------------------------------------------------------


def _launches(
    loop: ir.For, inner: ir.For, body: tuple[ir.Stmt, ...], f: _Fronts, context: Context
) -> list[ir.Stmt]:
    same = _sum(f, context)
    text = f"points with the same {same} do not need each other: a launch for each front"
    known = replace(loop.origin, comments=(), text=text)
    host: list[ir.Stmt] = []
    ends: list[Poly] = []
    for word, bound in (("first", f.starts), ("stop", f.stops)):
        if bound.constant is None:
            name = context.fresh(word)
            host.append(ir.Let(name, ir.Value(bound, WEAK_INT), known))
            bound = Poly.atom(Integer(name))
        ends.append(bound)
    here = ir.Let(f.other, ir.Value(f.other_at, WEAK_INT), ir.Origin(loop.origin.span))
    stage = ir.Stage((ir.Axis(f.point, ends[1], ends[0]),), (here, *body), inner.origin)
    return [ir.For(f.name, f.lo, f.hi, 1, (*host, stage), loop.origin)]


def _sum(f: _Fronts, context: Context) -> str:
    """`j + i` in the user's names, as the comment shows it."""
    a = f.other_at.coefficient(f.point) or 0
    b = f.other_at.coefficient(f.name) or 1
    parts = [(b, f.other), (-a * b, f.point)]
    terms = sorted(((c, n) for c, n in parts if c), key=lambda t: t[0] < 0)
    text = ""
    for c, name in terms:
        sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
        shown = context.user(name)
        text += sign + (shown if abs(c) == 1 else f"{abs(c)} * {shown}")
    return text
