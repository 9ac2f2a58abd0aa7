"""Stores at a position that a loop counts: `out[n] = x[i]; n += 1` where a condition holds.

The position grows by every such store, so no two of them meet (stream compaction, as G. E. Blelloch
has it in Prefix sums and their applications, 1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.effects import nodes_of
from porter.ir.scalars import constant_of
from porter.ir.walk import rewrite, statements
from porter.sizes.polynomial import Data, Poly
from porter.transforms.loops.scans.single_assignment import Iteration


def stored_once(iteration: Iteration, starts: Mapping[str, ir.Expr]) -> Iteration:
    """The iteration, its stores at a counted position as those that never meet.

    `starts` is what variables are before the loop, where that is known.
    """
    return replace(iteration, body=_Stores(iteration, starts).block(iteration.body, {}))


@dataclass(frozen=True)
class _Stores:
    """The stores of an iteration, and what its variables stand for."""

    iteration: Iteration
    starts: Mapping[str, ir.Expr]

    def block(self, body: Sequence[ir.Stmt], known: Mapping[ir.Expr, bool]) -> tuple[ir.Stmt, ...]:
        """The statements of a block in which conditions are known to hold, or not to."""
        result: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, ir.If):
                cond = self._written_out(s.cond)
                one, other = ({**known, **_told(cond, holds)} for holds in (True, False))
                s = replace(s, body=self.block(s.body, one), orelse=self.block(s.orelse, other))
            elif isinstance(s, ir.Write) and s.combine is None and self._is_alone(s):
                if any(self._counts(p, known) for p in s.index):
                    s = replace(s, combine="once")
            result.append(s)
        return tuple(result)

    def _is_alone(self, s: ir.Write) -> bool:
        """Whether nothing else touches the array."""
        every = list(statements(self.iteration.body))
        stores = [x for x in every if isinstance(x, ir.Write) and x.buffer == s.buffer]
        loads = (e for x in every for e in nodes_of(x) if isinstance(e, ir.Load))
        return len(stores) == 1 and all(e.buffer != s.buffer for e in loads)

    def _counts(self, p: Poly, known: Mapping[ir.Expr, bool]) -> bool:
        """Whether a subscript is from 0 on, and has grown whenever the store is done again."""
        data = [a for a in p.atoms() if isinstance(a, Data)]
        shift = (p - Poly.atom(data[0])).constant if len(data) == 1 else None
        if shift is None:
            return False
        place = self._written_out(data[0].expr)
        for name, old in self.iteration.olds.items():
            start = constant_of(self.starts.get(name))
            step = self._written_out(self.iteration.news[name])
            here, then = _offsets(place, old, known), _offsets(step, old, known)
            always = _offsets(step, old, {})
            if here and then and always and isinstance(start, int):
                grows = len(here) == 1 and min(then) > 0 and min(always) >= 0
                return grows and start + shift + min(here) >= 0
        return False

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
