"""Shapes that a loop settles: what it makes in its first turn has the shape of all arguments.

`price = face * yields`, and in a loop `price = price + coupons * yields`: where the loop runs, the
result has the common shape of both, and where it does not, that of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter import ir
from porter.ir.walk import walk
from porter.sizes.polynomial import Poly

_Shapes = dict[str, frozenset[str]]


class _Unknown(Exception):
    """The shape of something is not just that of some arguments."""


@dataclass(frozen=True)
class Turns:
    """How often loops turn that must do so for each result to have the common shape of all arrays.

    Where they do not, those groups of arguments, `first`, must have that shape for themselves.
    """

    counts: tuple[Poly, ...] = ()
    first: tuple[tuple[str, ...], ...] = ()


def turns(program: ir.Program) -> Turns:
    """Which loops must turn; none where there is nothing to ask for, or where that is no help."""
    if program.strict or program.stored or program.per_element:
        return Turns()
    order = [p.name for p in program.parameters if p.ndim is not None]
    shapes, first = (_Settled(dict(zip(order, map(_only, order), strict=True)), turn)
                     for turn in (True, False))  # fmt: skip
    try:
        shapes.run(program.body)
        first.run(program.body)
    except _Unknown:
        return Turns()
    numbers = {p.name for p in program.parameters if p.ndim is None}
    counts = tuple(dict.fromkeys(shapes.counts))
    known = all(not c.dims() and c.names() <= numbers for c in counts)
    if not known or any(r != {*order} for r in shapes.results):
        return Turns()
    own = [_only(n) for n in order] if len(counts) > 1 else first.results
    return Turns(counts, tuple(dict.fromkeys(tuple(n for n in order if n in r) for r in own)))


def _only(name: str) -> frozenset[str]:
    return frozenset({name})


class _Settled:
    """The arguments whose common shape each array has, where all loops have run, or none."""

    def __init__(self, known: _Shapes, turn: bool) -> None:
        self.known, self.turn = known, turn
        self.counts: list[Poly] = []
        self.results: list[frozenset[str]] = []

    def run(self, body: Sequence[ir.Stmt]) -> None:
        """Follow the statements; raises `_Unknown`."""
        for s in body:
            match s:
                case ir.Def(name=name, body=value):
                    self.known[name] = self._of(value)
                case ir.Bind(names=names, buffers=buffers):
                    self.known |= dict(zip(names, map(self._named, buffers), strict=True))
                case ir.Let(value=value) if not _loads(value):
                    pass
                case ir.For() if self.turn:
                    self._turn(s)
                case ir.For():
                    pass
                case ir.If(cond=cond) if not _loads(cond):
                    self._branch(s)
                case ir.Return(values=values):
                    self.results += [self._named(v) for v in values if isinstance(v, str)]
                case _:
                    raise _Unknown

    def _turn(self, loop: ir.For) -> None:
        """The second turn of a loop must find what the first one makes."""
        before = dict(self.known)
        self.run(loop.body)
        first, found = dict(self.known), len(self.counts)
        self.run(loop.body)
        del self.counts[found:]
        if self.known != first or loop.step not in (1, -1):
            raise _Unknown
        if any(self.known[n] != before[n] for n in before):
            self.counts.append((loop.hi - loop.lo) * loop.step)

    def _branch(self, s: ir.If) -> None:
        """Each branch; what both know must be the same."""
        before = dict(self.known)
        self.run(s.body)
        then, self.known = self.known, dict(before)
        self.run(s.orelse)
        ended = [bool(part) and isinstance(part[-1], ir.Return) for part in (s.body, s.orelse)]
        if ended[1]:
            self.known = then
        elif not ended[0] and any(then[n] != self.known[n] for n in then if n in self.known):
            raise _Unknown
        elif not ended[0]:
            self.known |= then

    def _of(self, value: ir.Expr) -> frozenset[str]:
        return frozenset[str]().union(*map(self._named, _loads(value) or [""]))

    def _named(self, name: str) -> frozenset[str]:
        if name not in self.known:
            raise _Unknown
        return self.known[name]


def _loads(value: ir.Expr) -> list[str]:
    """The arrays that an expression reads."""
    return [x.buffer for x in walk(value) if isinstance(x, ir.Load)]
