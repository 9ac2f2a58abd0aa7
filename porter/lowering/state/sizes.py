"""Which sizes are equal, and what the host has tested of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter import ir
from porter.ir.walk import walk
from porter.lowering.state.emitter import Emitter
from porter.lowering.state.part import Part
from porter.lowering.state.place import Place
from porter.lowering.state.scope import LoopScope
from porter.resolve.values import Array
from porter.sizes.polynomial import Poly, sym


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
    strict_shapes: bool = False

    def tell(self, array: Array) -> None:
        """The function learns the shape of an array, and with it those of what it is made of."""
        shapes = [array.shape]
        if array.view is None:
            read = walk(array.at([sym("?", True)] * array.ndim))
            names = {e.buffer for e in read if isinstance(e, ir.Load)}
            shapes += [self.out.buffers[n].shape for n in names & self.out.buffers.keys()]
        self.sized |= {n for shape in shapes for p in shape for n in p.names()}

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
