"""Loops whose iterations may read what one of them has stored: that is computed first.

In turn k of the shortest paths of Floyd and Warshall, `d[i, j] = min(d[i, j], d[i, k] + d[k, j])`
changes `d[i, k]` where j is k, so that the elements behind it in its row read what is new.  But
that needs old elements only: `d[i, k]`, and `d[k, k]`, which changes where i is k, too.  So new
values of the column and of the row are computed before all other elements, which read the old or
the new ones and are stored at once, as those of an array statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from porter import ir
from porter.analyses.dependence import never
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.effects import exposed_scalars
from porter.ir.rebuild import map_exprs, variables_as
from porter.ir.scalars import cast
from porter.ir.walk import rewrite, substitute, walk
from porter.sizes.polynomial import Poly, sym

Iteration = tuple[Poly, ...]


def forwarded(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """The nest of loops as array statements; None where that takes more than old elements."""
    loops = [loop]
    while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], ir.For):
        loops.append(loops[-1].body[0])
    ranges = tuple(map(Range.of, loops))
    own = {r.index for r in ranges}
    ends = {n for r in ranges for n in r.lo.names() | r.hi.names()}
    if own & ends or any(r.step != 1 or has_data((r.lo, r.hi)) for r in ranges):
        return None
    found = _store(loops[-1].body)
    if found is None or found[1] & (after | exposed_scalars(loop.body)):
        return None
    mark = context.mark()
    try:
        return list(_Nest(found[0], ranges, context).statements())
    except _Unknown:
        context.back_to(mark)
        return None


def _store(body: Sequence[ir.Stmt]) -> tuple[ir.Write, set[str]] | None:
    """The only store, with its conditions and variables put in it, and the variables."""
    values: dict[str, ir.Expr] = {}
    change = variables_as(values)
    mask: ir.Expr | None = None
    left = list(body)
    while left:
        match left.pop(0):
            case ir.Let(name, value):
                values[name] = rewrite(value, change)
            case ir.If(cond, then, ()) if not left:
                test = rewrite(cond, change)
                mask = test if mask is None else ir.Op("and", (mask, test), BOOL)
                left = list(then)
            case ir.Write(axes=(), mask=None, combine=None, checked=False) as s if not left:
                store = replace(map_exprs(s, change), mask=mask)
                names = {n for p in store.index for n in p.names()}
                return None if names & values.keys() else (store, set(values))
            case _:
                return None
    return None


class _Unknown(Exception):
    """What is read is not known from old elements."""


class _Nest:
    """What the iterations of a nest store, each into an element of its own."""

    def __init__(self, store: ir.Write, ranges: tuple[Range, ...], context: Context) -> None:
        """The store in loops over these ranges; _Unknown if it is no element for each iteration."""
        self.store, self.ranges, self.context = store, ranges, context
        self.known = (*context.here.loops, *ranges)
        self.own = {r.index for r in ranges}
        self.dtype = context.buffers[store.buffer].dtype
        #: what iterations of fewer indices store: where it is, and the statements that compute it
        self.later: dict[Iteration, ir.Load] = {}
        self.before: list[ir.Stmt] = []
        #: the same of single iterations, as variables of the thread that is written
        self.single: dict[Iteration, ir.Let] | None = None
        #: of each loop, the coordinate that it runs along, and how far that is ahead of it
        self.along: list[tuple[int, Poly]] = []
        for r in ranges:
            found = [d for d, p in enumerate(store.index) if r.index in p.names()]
            ahead = [store.index[d] - sym(r.index, True) for d in found]
            if len(found) != 1 or ahead[0].names() & self.own:
                raise _Unknown
            self.along.append((found[0], ahead[0]))
        if len({d for d, _ in self.along}) < len(store.index) or has_data(store.index):
            raise _Unknown

    def statements(self) -> Iterator[ir.Stmt]:
        """The array statements: what is computed first, and what all iterations store."""
        s, here = self.store, tuple(sym(r.index, True) for r in self.ranges)
        body = self._from_old(s.body, here)
        mask = None if s.mask is None else self._from_old(s.mask, here)
        # of an argument that is the same array, an iteration would read what others have stored
        others = (e for x in (s.body, *([] if s.mask is None else [s.mask])) for e in walk(x))
        looped = any(
            isinstance(e, ir.Load) and e.buffer != s.buffer and e.index != s.index for e in others
        )
        axes = tuple(ir.Axis(r.index, r.hi, r.lo) for r in self.ranges)
        yield from self.before
        origin = replace(s.origin, looped=looped)
        yield replace(s, axes=axes, body=body, mask=mask, origin=origin)

    def _stored(self, at: Iteration) -> ir.Expr:
        """What an iteration leaves in its element, from old ones."""
        s = self.store
        value = cast(s.body, self.dtype)
        if s.mask is not None:
            value = ir.Select(s.mask, value, ir.Load(s.buffer, s.index, self.dtype), self.dtype)
        return self._from_old(value, at)

    def _from_old(self, e: ir.Expr, at: Iteration) -> ir.Expr:
        """An expression in one iteration, its reads from elements as they were before the first."""
        names = {r.index: p for r, p in zip(self.ranges, at, strict=True)}

        def change(e: ir.Expr) -> ir.Expr | None:
            if isinstance(e, (ir.Reduce, ir.Draw)):
                raise _Unknown
            if not isinstance(e, ir.Load) or e.buffer != self.store.buffer:
                return None
            return self._read(e, at)

        return rewrite(substitute(e, names), change)

    def _read(self, e: ir.Load, here: Iteration) -> ir.Expr:
        """What an iteration reads: what an earlier one has stored there, if it has, or the old."""
        if has_data(e.index):
            raise _Unknown
        there = tuple(e.index[d] - ahead for d, ahead in self.along)
        earlier = self._earlier(there, here)
        if earlier is None:
            return e
        # an iteration of another kind, or this would go on
        if len(self._free(there)) >= len(self._free(here)) or not self._is_one(there):
            raise _Unknown
        value = self._computed(there) if self._free(there) else self._number(there)
        return ir.Select(_any(earlier), value, e, e.dtype) if all(earlier) else value

    def _free(self, at: Iteration) -> set[str]:
        """The indices that an iteration depends on."""
        return self.own & {n for p in at for n in p.names()}

    def _is_one(self, at: Iteration) -> bool:
        """Whether the nest has this iteration, wherever it has any."""
        return all(
            never((r.lo - p - 1,), self.known) and never((p - r.hi,), self.known)
            for p, r in zip(at, self.ranges, strict=True)
        )

    def _computed(self, there: Iteration) -> ir.Load:
        """What iterations store that depend on fewer indices, in an array of its own."""
        if there not in self.later:
            self.single, free = {}, self._free(there)
            value, lets, self.single = self._stored(there), self.single.values(), None
            axes = tuple(ir.Axis(r.index, r.hi, r.lo) for r in self.ranges if r.index in free)
            made = self.context.buffer(f"{self.store.buffer}_new", axes, self.dtype)
            new, names = self.context.fresh_axes(axes)
            at = tuple(sym(a.name, True) - a.lo for a in new)
            origin = self.store.origin
            self.before += [
                ir.Alloc(made, origin),
                ir.Stage(
                    new,
                    (*lets, ir.Write(made.name, (), at, substitute(value, names), origin)),
                    origin,
                ),
            ]
            index = tuple(sym(a.name, True) - a.lo for a in axes)
            self.later[there] = ir.Load(made.name, index, made.dtype)
        return self.later[there]

    def _number(self, there: Iteration) -> ir.Expr:
        """What a single iteration stores."""
        if self.single is None:
            return self._stored(there)
        if there not in self.single:
            name = self.context.fresh(f"new_{self.store.buffer}")
            self.single[there] = ir.Let(name, self._stored(there), self.store.origin)
        return ir.Local(self.single[there].name, self.dtype)

    def _earlier(self, there: Iteration, here: Iteration) -> list[list[ir.Expr]] | None:
        """The cases in which an iteration is before another, each with its tests; None if never."""
        cases: list[list[ir.Expr]] = []
        equal: list[ir.Expr] = []
        for a, b in zip(there, here, strict=True):
            if a == b:
                continue
            if not never((b - a - 1,), self.known):
                surely = never((a - b,), self.known)
                cases.append(equal if surely else [*equal, _test("lt", a, b)])
            if never((a - b, b - a), self.known):
                break
            equal = [*equal, _test("eq", a, b)]
        return cases or None


def _test(op: str, a: Poly, b: Poly) -> ir.Expr:
    return ir.Op(op, (ir.Value(a, INT64), ir.Value(b, INT64)), BOOL)


def _any(cases: Sequence[Sequence[ir.Expr]]) -> ir.Expr:
    """Whether all tests of one case hold."""

    def joined(op: str, tests: Sequence[ir.Expr]) -> ir.Expr:
        return reduce(lambda a, b: ir.Op(op, (a, b), BOOL), tests)

    return joined("or", [joined("and", case) for case in cases])
