"""The loops and conditions around the statement that is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

from porter import ir
from porter.dtypes.dtype import WEAK_BOOL, WEAK_INT
from porter.ir.scalars import integer, on_host, operate
from porter.ir.walk import walk
from porter.lowering.state.part import Part
from porter.sizes.polynomial import Poly


class Loop(Enum):
    """What runs the iterations of a loop."""

    ANY = auto()  # the host or threads, as the schedule chooses
    THREADS = auto()  # the host runs nothing in it


@dataclass
class Way:
    """One way through the branches that the host decides by its numbers, if only one is wanted.

    The first turn of a loop stands before it then: what a name is of may change in that.
    """

    wanted: tuple[bool, ...] | None = None  # the turns to take; those after them are the first
    numbers: set[str] = field(default_factory=set)  # the parameters that conditions may ask for
    taken: tuple[tuple[ir.Expr, bool], ...] = ()
    runs: tuple[ir.Expr, ...] = ()  # what holds where each first turn is one

    def of(self, cond: ir.Expr, scope: LoopScope) -> bool | None:
        """Which way a condition goes; None where both ways are wanted, or it is not of numbers."""
        if self.wanted is None or scope.loops or scope.conditional or not self._knows(cond):
            return None
        number = len(self.taken)
        goes = self.wanted[number] if number < len(self.wanted) else True
        self.taken += ((cond, goes),)
        return goes

    def peels(self, count: Poly, scope: LoopScope) -> bool:
        """Whether the first turn of a loop that has so many stands before it."""
        around = scope.loops or scope.conditional
        if self.wanted is None or around or count.dims() or not count.names() <= self.numbers:
            return False
        known = count.constant
        if known is None:
            least = ir.Value(count - Poly.of(_constant(count)), WEAK_INT)
            self.runs += (ir.Op("gt", (least, integer(-_constant(count))), WEAK_BOOL),)
        return known is None or known > 0

    def _knows(self, cond: ir.Expr) -> bool:
        """Whether the host can tell a condition from its numbers, as they are given."""
        return all(isinstance(e, _KNOWN) for e in walk(cond)) and _names(cond) <= self.numbers


_KNOWN = (ir.Op, ir.Const, ir.Value, ir.Scalar, ir.Cast)


def _names(cond: ir.Expr) -> set[str]:
    """What a condition asks for; an axis of an array by its own name."""
    found = set[str]()
    for e in walk(cond):
        if isinstance(e, ir.Scalar):
            found.add(e.name)
        elif isinstance(e, ir.Value):
            found |= e.poly.names() | {d.name for d in e.poly.dims()}
    return found


def _constant(p: Poly) -> int:
    """What is added to the rest of a size."""
    return sum(c for monomial, c in p.terms if monomial == ())


def parts(cond: ir.Expr, negated: bool) -> Iterator[tuple[ir.Expr, bool]]:
    """Conditions that hold together, each with whether it is negated."""
    match cond:
        case ir.Cast(arg=arg, dtype=dtype) if dtype.kind == arg.dtype.kind == "b":
            yield from parts(arg, negated)
        case ir.Op(op="not", args=(inner,)):
            yield from parts(inner, not negated)
        case ir.Op(op=op, args=(a, b)) if op == ("or" if negated else "and"):
            yield from parts(a, negated)
            yield from parts(b, negated)
        case _:
            yield cond, negated


@dataclass
class LoopScope(Part):
    """What is around the current statement."""

    ranges: list[ir.Axis] = field(default_factory=list)  # of the indices of `for` loops
    apart: list[Poly] = field(default_factory=list)  # positive where `i != j` of two of them
    loops: list[Loop] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)  # what would count those of `while` loops
    conditional: bool = False
    conditions: list[ir.Expr] = field(default_factory=list)  # that the host tests
    entered: tuple[ir.Expr, ...] = ()  # those of the whole block: sizes that meet in it meet then
    data_branches: int = 0  # branches that data decides
    speculative: int = 0  # inside code that Python may not run: nothing of it may have an effect
    waits: bool = False  # whether tests of arguments wait for the condition of such code

    @property
    def in_while(self) -> bool:
        """Whether a `while` loop is around."""
        return bool(self.turns)

    @property
    def indices(self) -> set[str]:
        """The indices of the loops around."""
        return {axis.name for axis in self.ranges}

    @contextmanager
    def part(self) -> Iterator[None]:
        """A block or an iteration: with it ends what conditions say of the loops around."""
        ranges, apart = list(self.ranges), list(self.apart)
        try:
            yield
        finally:
            self.ranges[:], self.apart[:] = ranges, apart

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """Evaluate what Python may not run: values are chosen among afterwards."""
        outer, self.conditional = self.conditional, True
        self.speculative += 1
        try:
            yield
        finally:
            self.conditional = outer
            self.speculative -= 1

    def tested(self, cond: ir.Expr, negated: bool) -> list[ir.Expr]:
        """What the host can test of a condition, or of its negation, before anything runs."""
        return [
            operate("not", part) if flipped else part for part, flipped in parts(cond, negated)
            if on_host(part) and not self.indices & _names(part)
        ]  # fmt: skip

    @contextmanager
    def only_where(self, conditions: Sequence[ir.Expr]) -> Iterator[None]:
        """As `maybe`, of what runs only where the host finds that all conditions hold."""
        outer, self.waits = self.waits, True
        kept = len(self.conditions)
        self.conditions += conditions
        try:
            with self.maybe():
                yield
        finally:
            self.waits = outer
            del self.conditions[kept:]
