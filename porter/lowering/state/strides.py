"""Axes that are 1 long in some calls and as long as others in the rest, inside of the function.

An argument that NumPy broadcasts is expanded by the host.  What the function makes itself, such as
`q[..., 3:]`, is not: its index is multiplied by a stride that the host sets to 0 where the axis
has length 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from porter import ir
from porter.dtypes.dtype import WEAK_BOOL, WEAK_INT
from porter.ir.scalars import integer
from porter.lowering.state.emitter import Emitter
from porter.lowering.state.facts import extents, put
from porter.lowering.state.part import Part
from porter.lowering.state.place import Place
from porter.lowering.state.unify import SizeFacts
from porter.sizes.polynomial import Apply, Dim, Integer, Poly, maximum, minimum

ONE = Poly.of(1)


@dataclass
class Strides(Part):
    """The strides of axes by their size, and the common sizes of axes that meet."""

    place: Place
    out: Emitter
    sizes: SizeFacts
    loose: frozenset[str] = frozenset()  # sizes that may be 1 beside any other
    steps: dict[Poly, Poly] = field(default_factory=dict)
    members: dict[Poly, frozenset[Poly]] = field(default_factory=dict)  # of common sizes
    names: list[str] = field(default_factory=list)  # what the host computes, in order
    least: dict[Dim, int] = field(default_factory=dict)  # lengths that the host tests
    integers: set[str] = field(default_factory=set)  # arguments that sizes are made of

    def met(self, a: Poly, b: Poly, what: str) -> Poly | None:
        """The common size of two axes, each of which may be 1; None where that is not asked."""
        a, b = self.sizes.resolve(a), self.sizes.resolve(b)
        if a == b:
            return None
        if self.serves(a, b):
            numbers = [(p, q) for p, q in ((a, b), (b, a)) if (q.constant or 0) > 1]
            # a number that is not 1 is the common size
            return self._thin(*numbers[0], what) if numbers else self._common(a, b, what)
        for size, other in ((a, b), (b, a)):
            constant = self._constant(other, size) if _shortened(size) else None
            if constant is not None and constant > 1:
                return self._thin(size, Poly.of(constant), what)
        return None

    def fits(self, size: Poly, whole: Poly, what: str) -> bool:
        """Whether a value of this size, or of size 1, is stored along an axis of a target."""
        size, whole = self.sizes.resolve(size), self.sizes.resolve(whole)
        if size == whole or not self.serves(size, whole):
            return False
        self._check(size, whole, what, (size,))
        return True

    def serves(self, a: Poly, b: Poly) -> bool:
        """Whether kernels are made for one of two sizes that is 1 beside any other."""
        named = (a.names() | b.names()) & {*self.loose, *self.names}
        return bool(named) and self._on_host(a) and self._on_host(b)

    def _on_host(self, size: Poly) -> bool:
        """Whether the host can compute a size before anything else."""
        known = {*self.integers, *self.names}
        return all(
            isinstance(a, Dim) or (isinstance(a, Integer) and a.name in known)
            for a in _symbols(size)
        )

    def is_thin(self, size: Poly, common: Poly) -> bool:
        """Whether an axis of this size may be 1 where the common size is larger."""
        return size in self.steps or size in self.members.get(common, ())

    def step(self, size: Poly) -> Poly:
        """What the index of an axis is multiplied by: 0 where its size is 1."""
        if size not in self.steps:
            value = ir.Value(minimum(size, 2) - 1, WEAK_INT)
            self.steps[size] = self._let("step", value)
        return self.steps[size]

    def _constant(self, other: Poly, size: Poly) -> int | None:
        """The number that a size is, or that the slice `[:3]` of the same axis comes to."""
        if other.constant is not None:
            return other.constant
        ((monomial, c), *more) = other.terms
        cut = monomial[0] if len(monomial) == 1 and c == 1 and not more else None
        if not isinstance(cut, Apply) or cut.op != "min":
            return None
        bounds = [p.constant for p in cut.args if p.constant is not None]
        wholes = [p for p in cut.args if p.dim is not None and p.dims() == size.dims()]
        if not bounds or not wholes:
            return None
        whole = ir.Check("index", Poly.of(bounds[0]), wholes[0], "slices of different lengths meet",
                         "ValueError")  # fmt: skip
        self.sizes.checks.append(whole)
        self.least[min(wholes[0].dims())] = bounds[0]
        return bounds[0]

    def uncut(self, p: Poly) -> Poly:
        """With 3 for `min(3, n)` where the host has tested that n is at least 3."""
        for atom in list(p.atoms()) if self.least else ():
            if isinstance(atom, Apply) and atom.op == "min":
                bounds = [q.constant for q in atom.args if q.constant is not None]
                dims = [q.dim for q in atom.args if q.dim is not None]
                if bounds and dims and bounds[0] <= self.least.get(dims[0], 0):
                    p = put(p, atom, Poly.of(bounds[0]))
        return p

    def _thin(self, size: Poly, common: Poly, what: str) -> Poly:
        self._check(size, common, what, (size,))
        self.step(size)
        return common

    def _common(self, a: Poly, b: Poly, what: str) -> Poly:
        """A size that the host computes: the other one where one is 1."""
        for size, other in ((a, b), (b, a)):
            if other in self.members.get(size, ()):
                return size
        self._check(a, b, what, (a, b))
        known = next((n for n, m in self.members.items() if {a, b} <= m), None)
        if known is not None:
            return known
        is_one = ir.Op("eq", (ir.Value(a, WEAK_INT), integer(1)), WEAK_BOOL)
        one, two = (ir.Value(p if p.is_nonneg() else maximum(p, 0), WEAK_INT) for p in (a, b))
        common = self._let("size", ir.Select(is_one, two, one, WEAK_INT))
        inner = (self.members.get(p, frozenset()) for p in (a, b))
        self.members[common] = frozenset({a, b}).union(*inner)
        return common

    def _check(self, a: Poly, b: Poly, what: str, ones: tuple[Poly, ...]) -> None:
        longer = tuple(ir.Op("ne", (ir.Value(p, WEAK_INT), integer(1)), WEAK_BOOL) for p in ones)
        scope = self.sizes.scope
        unknown = scope.in_while or scope.data_branches
        when = () if unknown else extents(self.sizes)
        branches = () if unknown else tuple(scope.conditions)
        check = ir.Check("equal", a, b, what, when=when, conditions=(*branches, *longer))
        self.sizes.note(check)

    def _let(self, name: str, value: ir.Expr) -> Poly:
        """A number that the host computes before anything else."""
        name = self.out.fresh(name)
        block = self.out.blocks[0]
        earlier = [k for k, s in enumerate(block) if isinstance(s, ir.Let) and s.name in self.names]
        block.insert(max(earlier, default=-1) + 1, ir.Let(name, value, ir.Origin()))
        self.names.append(name)
        return Poly.atom(Integer(name, True))


def _shortened(size: Poly) -> bool:
    """Whether a size is that of an argument's axis, less some elements."""
    dims = size.dims()
    return len(dims) == 1 and size.offset < 0 and size - size.offset == Poly.atom(min(dims))


def _symbols(size: Poly) -> Iterator[object]:
    return (a for a in size.atoms() if not isinstance(a, Apply))
