"""Which sizes are equal, and what the host has tested of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.ir.rebuild import map_statement
from porter.ir.walk import walk
from porter.lowering.state.emitter import Emitter
from porter.lowering.state.part import Part
from porter.lowering.state.place import Place
from porter.lowering.state.scope import LoopScope
from porter.resolve.values import Array
from porter.sizes.polynomial import Poly, sym


@dataclass(frozen=True)
class Known:
    """The sizes that are known to be equal at a place, and the arrays that are there."""

    equal: frozenset[str]
    buffers: frozenset[str]


@dataclass
class KnownSizes(Part):
    """What is known about sizes where the current statement stands."""

    place: Place
    out: Emitter
    scope: LoopScope
    ones: frozenset[str] = frozenset()  # axes of arguments that are taken to have length 1
    equal: dict[str, Poly] = field(default_factory=dict)
    checks: list[ir.Check] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)  # sizes that the host reads back
    asked: set[str] = field(default_factory=set)  # "shape", "rank": what the function reads
    sized: set[str] = field(default_factory=set)
    #: why arguments must have one shape: an array is "made" like another one, or "stored" into
    strict: set[str] = field(default_factory=set)

    def tell(self, array: Array) -> None:
        """The function learns the shape of an array, and with it those of what it is made of."""
        shapes = [array.shape]
        if array.view is None:
            read = walk(array.at([sym("?", True)] * array.ndim))
            names = {e.buffer for e in read if isinstance(e, ir.Load)}
            shapes += [self.out.buffers[n].shape for n in names & self.out.buffers.keys()]
        self.sized |= {n for shape in shapes for p in shape for n in p.names()}
        if array.view is not None and array.view.buffer in self.out.buffers:
            # an axis of its own may be known by another's name
            told = {n for p in array.shape for n in self.resolve(p).names()}
            own = self.out.buffers[array.view.buffer].shape
            self.sized |= {n for p in own if self.resolve(p).names() & told for n in p.names()}

    def note(self, check: ir.Check) -> None:
        """Add a test of the arguments. Refuses one that a layout says nothing of."""
        own, other = (
            {self.place.letters[n] for n in p.names() if n in self.place.letters}
            for p in (check.left, check.right)
        )
        counts = check.kind == "index"
        if not other and not counts:
            own, other = other, own
        alone = check.right if counts or own else check.left
        if own - other and (other or alone.constant == 1):
            there = f"`{'`, `'.join(sorted(other))}`" if other else "one element"
            here = f"counts up to `{min(own - other)}`" if counts else "takes them to be equal"
            both = there if counts else f"`{min(own)}` beside {there}"
            raise self.place.refuse("PRT803", f"the layout has {both} where this {here}",
                                    "give equal sizes one letter in the layout")  # fmt: skip
        self.checks.append(check)

    def resolve(self, poly: Poly) -> Poly:
        """With dimensions known to be equal written as one. Refuses a division by a size of 0."""
        for _ in range(8):
            if not self.equal or not (poly.names() & self.equal.keys()):
                return poly
            try:
                poly = poly.replace(self.equal)
            except ZeroDivisionError:
                raise self.place.refuse("PRT903", "an array size is divided by zero") from None
        return poly

    def are_equal(self, a: Poly, b: Poly) -> bool:
        """Whether two sizes are equal in every call that gets here: as written, or by a test."""
        sides = {self.resolve(a), self.resolve(b)}
        return len(sides) == 1 or any(
            c.kind == "equal"
            and not (c.conditions or c.when)
            and {self.resolve(c.left), self.resolve(c.right)} == sides
            for c in self.checks
        )

    def known(self) -> Known:
        """What is known where a block starts, for `forget`."""
        return Known(frozenset(self.equal), frozenset(self.out.buffers))

    def forget(self, known: Known, block: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """The statements of a block with the sizes that are equal just in it written as one.

        Behind the block they may differ: the host tests them only where the block runs.
        """
        if self.equal.keys() <= known.equal:
            return list(block)
        for name in self.out.buffers.keys() - known.buffers:
            made = self.out.buffers[name]
            shape = tuple(map(self.resolve, made.shape))
            self.out.buffers[name] = replace(made, shape=shape)
        found = [map_statement(s, self.resolve, lambda d: d) for s in block]
        for name in self.equal.keys() - known.equal:
            del self.equal[name]
        return found
