"""The loops and conditions around the statement that is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

from porter import ir
from porter.lowering.state.part import Part
from porter.sizes.polynomial import Poly


class Loop(Enum):
    """What runs the iterations of a loop."""

    ANY = auto()  # the host or threads, as the schedule chooses
    THREADS = auto()  # the host runs nothing in it


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
    active: list[str] = field(default_factory=list)  # the functions being evaluated

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
