"""Sizes that the tests of the arguments settle: `min(n, len(x))` is n where x must be that long.

The host makes these tests before any launch.  One that only counts where a loop runs (`when`) is
made by then in the body of that loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks, map_statement
from porter.sizes.polynomial import Apply, Poly, apply

Body = tuple[ir.Stmt, ...]


def settle_sizes(body: Body, context: Context) -> Body:
    """The pass: the smaller of two sizes that a test has compared, in loops of the host."""
    checks = [x for c in context.checks if not c.conditions for x in _compared(c)]
    return _settled(body, checks, frozenset(), context.buffers) if checks else body


def _compared(check: ir.Check) -> Iterator[ir.Check]:
    """The test that one size is at most another: itself, or where one is the smaller of both."""
    if check.kind == "index":
        yield check
    elif check.kind == "equal":
        for one, other in ((check.left, check.right), (check.right, check.left)):
            for atom in other.atoms():
                if isinstance(atom, Apply) and atom.op == "min" and Poly.atom(atom) == other:
                    # a length is at least 0: for n = 0 it equals min(2, n - 2) as 0, not as n - 2
                    for bound in (b for b in atom.args if b.is_nonneg()):
                        yield replace(check, kind="index", left=one, right=bound)


def _settled(
    body: Sequence[ir.Stmt],
    checks: list[ir.Check],
    running: frozenset[Poly],
    buffers: dict[str, ir.Buffer],
) -> Body:
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
            return map_blocks(s, lambda b: _settled(b, checks, running | {extent}, buffers))
        if isinstance(s, (ir.If, ir.While)):
            s = map_blocks(s, lambda b: _settled(b, checks, running, buffers))
        if not made or not (running or isinstance(s, ir.Write)):
            return s
        if isinstance(s, ir.Def):
            known = buffers[s.name]
            buffers[s.name] = replace(known, shape=tuple(map(size, known.shape)))
        return map_statement(s, size, lambda d: d)

    return tuple(map(statement, body))


def _follows(one: Poly, other: Poly, check: ir.Check) -> bool:
    """Whether `one` is at most `other` because a test found `left` to be at most `right`."""
    return ((other - one) - (check.right - check.left)).is_nonneg()
