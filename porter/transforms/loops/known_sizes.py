"""Sizes that the tests of the arguments settle: `min(n, len(x))` is n where x must be that long.

The host makes these tests before any launch.  One that only counts where a loop runs (`when`) is
made by then in the body of that loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks, map_parts
from porter.sizes.polynomial import Poly, apply

Body = tuple[ir.Stmt, ...]


def settle_sizes(body: Body, context: Context) -> Body:
    """The pass: the smaller of two sizes that a test has compared, in loops of the host."""
    checks = [c for c in context.checks if c.kind == "index" and not c.conditions]
    return _settled(body, checks, frozenset()) if checks else body


def _settled(body: Sequence[ir.Stmt], checks: list[ir.Check], running: frozenset[Poly]) -> Body:
    """The statements within loops that take so many turns."""
    made = [c for c in checks if running.issuperset(c.when)]

    def applied(op: str, *args: Poly) -> Poly:
        if op == "min":
            for one, other in (args, args[::-1]):
                if any(_follows(one, other, c) for c in made):
                    return one
        return apply(op, *args)

    def size(p: Poly) -> Poly:
        return p.map_atoms(Poly.atom, applied)

    def statement(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.For):
            extent = s.hi - s.lo if s.step > 0 else s.lo - s.hi
            return map_blocks(s, lambda b: _settled(b, checks, running | {extent}))
        if isinstance(s, ir.Write) and made:
            return map_parts(s, lambda e: e, size, lambda d: d)
        return s

    return tuple(map(statement, body))


def _follows(one: Poly, other: Poly, check: ir.Check) -> bool:
    """Whether `one` is at most `other` because a test found `left` to be at most `right`."""
    return ((other - one) - (check.right - check.left)).is_nonneg()
