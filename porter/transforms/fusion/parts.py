"""A stage over a part of another one's domain joins it, behind a test of the indices."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks, map_exprs, rename_axes
from porter.ir.walk import jumps, statements
from porter.sizes.polynomial import Data, Poly
from porter.transforms.fusion.joining import joined, with_neighbours

Body = tuple[ir.Stmt, ...]
#: the widest border that threads without work are started for
_BORDER = 8


def merge_parts(body: Body, context: Context) -> Body:
    """`v = u.copy()` followed by `v[1:-1] += ...` is one stage, and so is what follows on `v`."""
    aliases = Aliases.of(body, context.buffers)
    return with_neighbours(body, lambda a, b: merged(a, b, aliases))


def merged(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> ir.Stage | None:
    """Both over the larger domain, where the elements that they share are of the same thread."""
    if jumps(a.body) or jumps(b.body):
        return None
    if (both := _merged(a, b, aliases)) is not None:
        return both
    # statements may be parts of their own: `v[0] = ...` and `v[-1] = ...`
    for both in (a, *_over_arrays(a, b, aliases)):
        for s in b.body:
            both = both and _merged(both, _alone(s, b), aliases)
        if both is not None:
            return both
    for both in (b, *_over_arrays(b, a, aliases)):
        for s in reversed(a.body):
            both = both and _merged(_alone(s, a), both, aliases)
        if both is not None:
            return both
    return None


def _alone(s: ir.Stmt, stage: ir.Stage) -> ir.Stage:
    return replace(stage, body=(s,), origin=s.origin)


def _merged(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> ir.Stage | None:
    for x, y in _meetings(a, b):
        if (part := _Part.of(a, b, x, y, aliases)) and (stage := part.stage):
            return joined(a, stage, aliases)
        if (part := _Part.of(b, a, y, x, aliases)) and (stage := part.stage):
            return joined(stage, b, aliases)
    return None


def _over_arrays(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> Iterator[ir.Stage]:
    """The first stage over all of an array that both touch, if it leaves out its border alone."""
    for x, _ in _meetings(a, b):
        shape = aliases.buffers[x.buffer].shape
        if not a.axes or len(shape) != len(a.axes):
            continue
        axes = tuple(replace(axis, lo=Poly(), hi=n) for axis, n in zip(a.axes, shape, strict=True))
        whole = replace(a, axes=axes)
        part = _Part.of(whole, a, replace(x, index=symbols(axes)), x, aliases)
        if part is not None and all(p.leaves_out(_BORDER) for p in part.places):
            if (stage := part.stage) is not None:
                yield stage


def _meetings(a: ir.Stage, b: ir.Stage) -> Iterator[tuple[Access, Access]]:
    """Accesses of one array, of which one is a store: a pair for each pair of subscripts."""
    met = {
        (x.buffer, x.index, y.index): (x, y)
        for x, y in product(accesses(a.body), accesses(b.body))
        if x.buffer == y.buffer and (x.write or y.write)
    }
    yield from met.values()


@dataclass(frozen=True)
class _Place:
    """Where a part lies along an axis of the whole.

    `at` is the index of the whole for the part's own index, or the only one, `given` the part's
    subscript in that dimension of the array; `inside` says that it is in the axis whatever it is.
    """

    axis: ir.Axis
    own: ir.Axis | None
    at: Poly
    dimension: int
    given: Poly
    inside: bool

    def leaves_out(self, most: int) -> bool:
        """Whether the part is the axis but for so many indices at each end, or fewer."""
        if self.own is None:
            return False
        ahead = self.at - symbols([self.own])[0]
        ends = (self.own.lo + ahead - self.axis.lo, self.axis.hi - self.own.hi - ahead)
        return all(n.constant is not None and 0 <= n.constant <= most for n in ends)

    @property
    def tests(self) -> list[ir.Expr] | None:
        """What tells the part's indices; None where not all are in the axis."""
        (i,) = symbols([self.axis])
        index = ir.Value(i, INT64)
        if self.own is None:
            known = (self.at - self.axis.lo).is_nonneg() and (self.axis.hi - self.at).is_positive()
            test = ir.Op("eq", (index, ir.Value(self.at, INT64)), BOOL)
            return [test] if known or self.inside else None
        ahead = self.at - symbols([self.own])[0]
        lo, hi = self.own.lo + ahead, self.own.hi + ahead
        if not ((lo - self.axis.lo).is_nonneg() and (self.axis.hi - hi).is_nonneg()):
            return None
        edges = [("ge", lo, self.axis.lo), ("lt", hi, self.axis.hi)]
        tests: list[ir.Expr] = [
            ir.Op(op, (index, ir.Value(edge, INT64)), BOOL)
            for op, edge, limit in edges
            if edge != limit
        ]
        return [_all(tests)] if tests else []


@dataclass(frozen=True)
class _Part:
    """A stage that works on a part of the domain of another one, `whole`."""

    whole: ir.Stage
    part: ir.Stage
    places: tuple[_Place, ...]

    @staticmethod
    def of(whole: ir.Stage, part: ir.Stage, x: Access, y: Access, aliases: Aliases) -> _Part | None:
        """What two accesses of one array say: those of the whole are at an element per thread."""
        names = x.variant | y.variant | {s.name for s in (*whole.axes, *part.axes)}
        shape = aliases.buffers[x.buffer].shape
        bounds = {n for a in (*whole.axes, *part.axes) for p in (a.lo, a.hi) for n in p.names()}
        if bounds & names:
            return None
        places = [_place(axis, part.axes, x, y, names, shape) for axis in whole.axes]
        found = tuple(p for p in places if p is not None)
        used = [p.own.name for p in found if p.own is not None]
        if (
            not found
            or len(found) < len(places)
            or sorted(used) != sorted(a.name for a in part.axes)
        ):
            return None
        return _Part(whole, part, found)

    @property
    def stage(self) -> ir.Stage | None:
        """The part behind a test, over the domain of the whole; None if that is not larger.

        Loops stay apart: all threads of a warp would wait for those of a border.
        """
        tests: list[ir.Expr] = []
        if any(isinstance(s, (ir.For, ir.While)) for s in statements(self.part.body)):
            return None
        for place in self.places:
            if (more := place.tests) is None:
                return None
            tests += more
        if not tests:
            return None
        moved = {}
        for place, i in zip(self.places, symbols(self.whole.axes), strict=True):
            if place.own is not None:
                moved[place.own.name] = i - (place.at - symbols([place.own])[0])
        # first: the two stages may have the same names for their indices
        inner = self._fixed(tuple(rename_axes(s, moved) for s in self.part.body))
        branch = ir.If(_all(tests), inner, (), self.part.origin)
        return ir.Stage(self.whole.axes, (branch,), self.part.origin)

    def _fixed(self, body: Body) -> Body:
        """The statements with the thread's index where the part is at one index alone."""
        new = {
            (p.dimension, p.given): p.given - p.at + symbols([p.axis])[0]
            for p in self.places
            if p.own is None
        }
        shared = {a.buffer for a in accesses(self.whole.body)}

        def at(buffer: str, index: tuple[Poly, ...]) -> tuple[Poly, ...]:
            if buffer not in shared:
                return index
            return tuple(new.get((d, p), p) for d, p in enumerate(index))

        def load(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Load) or (index := at(e.buffer, e.index)) == e.index:
                return None
            return replace(e, index=index)

        def store(s: ir.Stmt) -> ir.Stmt:
            if isinstance(s, ir.Write):
                return replace(s, index=at(s.buffer, s.index))
            return map_blocks(s, lambda b: tuple(map(store, b)))

        return tuple(store(map_exprs(s, load)) for s in body)


def _all(tests: Sequence[ir.Expr]) -> ir.Expr:
    return functools.reduce(lambda one, other: ir.Op("and", (one, other), BOOL), tests)


def _place(
    axis: ir.Axis,
    own: Sequence[ir.Axis],
    x: Access,
    y: Access,
    names: frozenset[str],
    shape: tuple[Poly, ...],
) -> _Place | None:
    """Where the second access is along an axis of the whole, in whose dimension the first one has
    the thread's index and a distance."""
    (i,) = symbols([axis])
    for d, p in enumerate(x.index):
        ahead = p - i
        if ahead.names() & names or _has_data(p):
            continue
        given = y.index[d]
        at = given - ahead
        its = [b for b in own if not (at - symbols([b])[0]).names() & names]
        if _has_data(at) or (not its and at.names() & names):
            return None
        inside = axis.lo + ahead == Poly() and axis.hi + ahead == shape[d]
        return _Place(axis, its[0] if its else None, at, d, given, inside)
    return None


def _has_data(p: Poly) -> bool:
    return any(isinstance(a, Data) for a in p.atoms())
