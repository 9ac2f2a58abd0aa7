"""Nests of two or three loops whose points can be reached along slanted fronts.

`u[i, j]` computed from `u[i - 1, j]` and `u[i, j - 1]` makes both loops sequential, but all
points with one value of `i + j` are independent.  The host steps through the fronts
`front = a * i + b * j`, a launch runs the points of one.  The factors are the first for which
every dependence leads to a later front, so each point sees exactly the values that it sees in
the user's order (Lamport's hyperplane method, 1974).

A loop of turns around such a nest takes part: `front = c * t + a * i + b * j`.  A turn begins
while the ones before it are under way, and all of them take few more launches than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from porter import ir
from porter.analyses.dependence import Nest, Pair, Site, sites
from porter.analyses.obstacles import obstacle
from porter.dtypes.dtype import BOOL, INT64, WEAK_INT
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.effects import axes_of, defs_in, exposed_scalars, nodes_of, uses
from porter.ir.walk import jumps, loaded, statements
from porter.sizes.affine import combine
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym
from porter.transforms.loops.nests import fused_body

#: factors of the two loops' steps, the least slanted first
SLOPES = ((0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3))
#: the largest factor of a loop of turns
MOST_SLANTED = 8


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
    if not _threadlike(body, after):
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


def turns_in_fronts(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """Turns of a nest of two sequential loops as a host loop over fronts of all of them."""
    turns = _turns(loop, context)
    if turns is None or abs(loop.step) != 1:
        return None
    (middle, inner), body = turns
    if not _threadlike(body, after):
        return None
    ranges = (Range.of(loop), Range.of(middle), Range.of(inner))
    names = {r.index for r in ranges}
    if any(names & (r.lo.names() | r.hi.names()) for r in ranges):
        return None
    nest = Nest(ranges, context.here.loops, context.buffers)
    found = sites(body)
    if not _is_table(found, middle.index, inner.index):
        return None
    for a, b in SLOPES:
        slanted = (a * middle.step, b * inner.step)
        if not _legal(nest, found, (loop.step, *slanted), (1, 2)):
            continue
        for c in range(1, MOST_SLANTED + 1):
            steps = (c * loop.step, *slanted)
            if _legal(nest, found, steps, (0,)):
                return _all_turns(loop, ranges, steps, body, context)
        return None
    return None


def _turns(
    loop: ir.For, context: Context
) -> tuple[tuple[ir.For, ir.For], tuple[ir.Stmt, ...]] | None:
    """The two loops in a loop of turns, each of which keeps its order, and the body of both."""
    if len(loop.body) != 1 or not isinstance(loop.body[0], ir.For):
        return None
    middle: ir.For | None = loop.body[0]
    outer, context.here = context.here, context.here.inside(loop)
    try:
        if obstacle(loop.body[0], set(), context) is None:
            return None
        nested = _nested(loop.body[0])
        if nested is None:
            middle = fused_body(loop.body[0], context)
            nested = None if middle is None else _nested(middle)
        if middle is None or nested is None:
            return None
        context.here = context.here.inside(middle)
        inner, body = nested
        if obstacle(replace(inner, body=body), set(), context) is None:
            return None
        return (middle, inner), body
    finally:
        context.here = outer


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


def _threadlike(body: Sequence[ir.Stmt], after: set[str]) -> bool:
    """Whether one thread can run the body to its end, with variables that no other one needs."""
    if defs_in(body).scalars & (after | exposed_scalars(body)):
        return False
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


def _legal(
    nest: Nest, found: Sequence[Site], steps: tuple[int, ...], levels: tuple[int, ...] = (0, 1)
) -> bool:
    """Whether no point needs another one of the same front or of a later one.

    The points of a level differ first in that loop of the nest.
    """

    def not_later(pair: Pair) -> None:
        gap: dict[str, int] = {}
        for r, step in zip(nest.loops, steps, strict=True):
            gap = combine(gap, 1, {r.index: 1, r.index + "'": -1}, step)
        pair.system.inequalities.append(gap)

    for x in found:
        for y in found:
            if x.access.buffer != y.access.buffer or not (x.access.write or y.access.write):
                continue
            if any(nest.meet(x, y, level, not_later) for level in levels):
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
    text = f"points with the same {same} do not need each other: front by front"
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


def _all_turns(
    loop: ir.For, ranges: tuple[Range, Range, Range], steps: tuple[int, int, int],
    body: tuple[ir.Stmt, ...], context: Context,
) -> list[ir.Stmt]:  # fmt: skip
    """A launch for each front: threads for the turns that it meets and for a line of each."""
    turn, middle, inner = ranges
    name = context.fresh("front")
    ends = [(r.lo, r.hi - 1) if r.step > 0 else (r.hi + 1, r.lo) for r in ranges]
    spans = [(s * lo, s * hi) if s > 0 else (s * hi, s * lo)
             for s, (lo, hi) in zip(steps, ends, strict=True)]  # fmt: skip
    lo, hi = (sum((span[k] for span in spans), Poly()) for k in (0, 1))
    other, point = (inner, middle) if abs(steps[2]) == 1 else (middle, inner)
    by = dict(zip((r.index for r in ranges), steps, strict=True))
    index = {r.index: sym(r.index, True) for r in ranges}
    slanted = sum((by[r.index] * index[r.index] for r in (turn, point)), Poly())
    at = (sym(name) - slanted) * by[other.index]
    text = (
        f"points with the same {_shown([(by[r.index], r.index) for r in ranges], context)} do not "
        "need each other: front by front"
    )
    known = replace(loop.origin, comments=(), text=text)
    # the turns that have a point on the front
    most, least = (sym(name) - (spans[1][k] + spans[2][k]) for k in (0, 1))
    c = abs(steps[0])
    near, far = (least, most) if steps[0] > 0 else (-most, -least)
    low, high = ends[0]
    host: list[ir.Stmt] = []
    bounds: list[Poly] = []
    for word, bound in (
        ("first", maximum(low, _divided_up(near, c))), ("stop", minimum(high, far // c) + 1)
    ):  # fmt: skip
        fresh = context.fresh(word)
        host.append(ir.Let(fresh, ir.Value(bound, WEAK_INT), known))
        bounds.append(Poly.atom(Integer(fresh)))
    here = ir.Let(other.index, ir.Value(at, WEAK_INT), ir.Origin(loop.origin.span))
    first, last = ends[ranges.index(other)]
    place = ir.Value(index[other.index], INT64)
    inside = ir.Op("and", (
        ir.Op("ge", (place, ir.Value(first, INT64)), BOOL),
        ir.Op("lt", (place, ir.Value(last + 1, INT64)), BOOL),
    ), BOOL)  # fmt: skip
    across = ends[ranges.index(point)]
    axes = (
        ir.Axis(turn.index, bounds[1], bounds[0]),
        ir.Axis(point.index, across[1] + 1, across[0]),
    )
    stage = ir.Stage(axes, (here, ir.If(inside, body, (), loop.origin)), loop.origin)
    return [ir.For(name, lo, hi + 1, 1, (*host, stage), loop.origin)]


def _sum(f: _Fronts, context: Context) -> str:
    """`j + i` in the user's names, as the comment shows it."""
    a = f.other_at.coefficient(f.point) or 0
    b = f.other_at.coefficient(f.name) or 1
    return _shown([(b, f.other), (-a * b, f.point)], context)


def _shown(parts: Sequence[tuple[int, str]], context: Context) -> str:
    terms = sorted(((c, n) for c, n in parts if c), key=lambda t: t[0] < 0)
    text = ""
    for c, name in terms:
        sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
        shown = context.user(name)
        text += sign + (shown if abs(c) == 1 else f"{abs(c)} * {shown}")
    return text
