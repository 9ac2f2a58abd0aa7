"""Stores at a position that a loop counts: `out[n] = x[i]; n += 1` where a condition holds.

The position grows by every such store, so no two of them meet (stream compaction, as G. E. Blelloch
has it in Prefix sums and their applications, 1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.effects import nodes_of
from porter.ir.rebuild import map_blocks
from porter.ir.scalars import constant_of
from porter.ir.walk import rewrite, statements
from porter.sizes.polynomial import Data, Poly
from porter.transforms.loops.scans.single_assignment import Iteration


def stored_once(iteration: Iteration, starts: Mapping[str, ir.Expr]) -> Iteration:
    """The iteration, its stores at a counted position as those that never meet.

    `starts` is what variables are before the loop, where that is known.
    """
    stores = _Stores(iteration, starts, {})
    stores.block(iteration.body, {})
    loads = {e.buffer for x in statements(iteration.body) for e in nodes_of(x)
             if isinstance(e, ir.Load)}  # fmt: skip
    once = {name for name, places in stores.found.items() if name not in loads and _apart(places)}

    def marked(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer in once:
            return replace(s, combine="once")
        return map_blocks(s, lambda block: tuple(map(marked, block)))

    return replace(iteration, body=tuple(map(marked, iteration.body)))


@dataclass(frozen=True)
class _Place:
    """Where a store is, beyond the old value of a variable, and how much that grows then."""

    dimension: int
    counter: str
    beyond: int
    growth: int


def _apart(places: Sequence[_Place | None]) -> bool:
    """Whether the stores of later iterations are all behind those of earlier ones."""
    known = [p for p in places if p is not None]
    if len(known) < len(places) or len({(p.dimension, p.counter) for p in known}) > 1:
        return False
    window = max(p.beyond for p in known) - min(p.beyond for p in known)
    return window < min(p.growth for p in known)


@dataclass(frozen=True)
class _Stores:
    """The stores of an iteration, and what its variables stand for."""

    iteration: Iteration
    starts: Mapping[str, ir.Expr]
    found: dict[str, list[_Place | None]]

    def block(self, body: Sequence[ir.Stmt], known: Mapping[ir.Expr, bool]) -> None:
        """Note the stores of a block in which conditions are known to hold, or not to."""
        for s in body:
            if isinstance(s, ir.If):
                cond = self._written_out(s.cond)
                self.block(s.body, {**known, **_told(cond, True)})
                self.block(s.orelse, {**known, **_told(cond, False)})
            elif isinstance(s, ir.Write):
                places = (self._place(k, p, known) for k, p in enumerate(s.index))
                place = next((x for x in places if x is not None), None)
                self.found.setdefault(s.buffer, []).append(None if s.combine else place)

    def _place(self, dimension: int, p: Poly, known: Mapping[ir.Expr, bool]) -> _Place | None:
        """A subscript that is from 0 on, and that is a counter but for a constant."""
        data = [a for a in p.atoms() if isinstance(a, Data)]
        shift = (p - Poly.atom(data[0])).constant if len(data) == 1 else None
        if shift is None:
            return None
        place = self._written_out(data[0].expr)
        for name, old in self.iteration.olds.items():
            start = constant_of(self.starts.get(name))
            step = self._written_out(self.iteration.news[name])
            here, then = _offsets(place, old, known), _offsets(step, old, known)
            always = _offsets(step, old, {})
            if here and then and always and isinstance(start, int):
                (beyond, *more), least = sorted(here), start + shift + min(here)
                if more or least < 0 or min(always) < 0:
                    return None
                return _Place(dimension, name, beyond + shift, min(then))
        return None

    def _written_out(self, e: ir.Expr) -> ir.Expr:
        values = self.iteration.values

        def change(x: ir.Expr) -> ir.Expr | None:
            if isinstance(x, ir.Local) and x.name in values:
                return rewrite(values[x.name], change)
            return None

        return rewrite(e, change)


def _told(cond: ir.Expr, holds: bool) -> dict[ir.Expr, bool]:
    """What follows from a condition that holds, or does not."""
    match cond:
        case ir.Op("not", (arg,)):
            return {cond: holds, **_told(arg, not holds)}
        case ir.Op("and" | "or" as op, args) if holds == (op == "and"):
            return {cond: holds, **{c: x for a in args for c, x in _told(a, holds).items()}}
    return {cond: holds}


def _offsets(e: ir.Expr, old: ir.Local, known: Mapping[ir.Expr, bool]) -> set[int] | None:
    """What an integer may be beyond the old value; None if it is something else."""
    match e:
        case ir.Local() if e == old:
            return {0}
        case ir.Cast(arg, dtype) if dtype.kind == "i" and dtype.itemsize == 8:
            return _offsets(arg, old, known)
        case ir.Op("add" | "sub" as op, (left, right)):
            more, inner = constant_of(right), _offsets(left, old, known)
            if inner is None and op == "add":
                more, inner = constant_of(left), _offsets(right, old, known)
            if inner is None or not isinstance(more, int):
                return None
            return {k + more if op == "add" else k - more for k in inner}
        case ir.Select(cond, then, other):
            sides = (then, other) if cond not in known else (then if known[cond] else other,)
            found = [_offsets(x, old, known) for x in sides]
            return None if None in found else {k for f in found if f is not None for k in f}
    return None
