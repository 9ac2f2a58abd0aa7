"""Sizes that meet: taken as equal, tested by the host, or refused."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import WEAK_INT
from porter.lowering.state.facts import (
    direction,
    extents,
    factor_of,
    highest,
    lowest,
    never_negative,
    never_zero,
    put,
)
from porter.lowering.state.restarts import Contradiction
from porter.lowering.state.scope import Loop
from porter.lowering.state.sizes import KnownSizes
from porter.sizes.polynomial import Apply, Atom, Data, Dim, Poly


class SizeFacts(KnownSizes):
    """Sizes that are known, and what makes more of them known."""

    def unify(
        self, a: Poly, b: Poly, what: str, broadcast: bool | str = False, error: str = "ValueError"
    ) -> Poly:
        """Take two sizes as equal, from here on and at run time. Refuses if they cannot be.

        `broadcast` says that NumPy also takes 1 for one of them, "store" that it does so for b.
        """
        a, b = self.resolve(a), self.resolve(b)
        if a == b:
            return a
        difference = a - b
        known = difference.constant
        if known is not None:
            raise self.place.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
        if never_zero(difference):
            refused = self.place.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
            raise Contradiction(refused.diagnostic, self._broadcast_axes())
        ones = bool(broadcast) and self._stays_one(a, b)
        common = both_whole(self, a, b, ones)
        if common is not None:
            return common
        late = difference.names() & self.fetched
        for atom in () if late else self._replaced_first(a, b, broadcast):
            if isinstance(atom, Dim):
                factor = difference.coefficient(atom.name)
                if factor in (1, -1):
                    other = Poly.atom(atom) - difference * factor
                    if other.names() & self.scope.indices:
                        continue  # the size would differ from one iteration to the next
                    plain = (b.name, a.name if broadcast is True else None)
                    self._equate(atom, other, what, atom.name in plain and broadcast, error, ones)
                    return self.resolve(a)
        if any(isinstance(atom, Data) for atom in difference.atoms()):
            return self._unify_bounds(a, b, what)
        if difference.names() & self.scope.indices:
            whole = unclamp(self, a, b)
            if whole is not None:
                return self.unify(*whole, what, broadcast, error)
            if self.scope.speculative or Loop.THREADS in self.scope.loops:
                raise self.place.refuse("PRT903", f"{what}: sizes `{a}` and `{b}` differ")
            message = f"{what}: the sizes of the arrays differ"
            self._check_here(ir.Check("equal", a, b, message, error))
            return a
        if (a.names() | b.names()) & self.scope.indices:
            # the loops' indices cancel out: what is left can be tested before the loops
            left, right = (_positive(difference), _positive(-difference))
            self.check(ir.Check("equal", left, right, what, error))
            return a
        if late:
            self.check(
                ir.Check("equal", a, b, what, error)
            )  # the host learns these sizes on the way
        else:
            conditions = self.scope.entered
            self.note(ir.Check("equal", a, b, what, error, conditions=conditions, ones=ones))
        return a

    def same_size(self, a: Poly, b: Poly) -> None:
        """Two sizes are equal from here on: the user's own check has found them so."""
        checks = list(self.checks)
        with suppress(Refusal):
            self.unify(a, b, "the sizes")
        self.checks[:] = checks

    def _broadcast_axes(self) -> tuple[str, ...]:
        """Axes of arguments that were taken as long as others, where NumPy also takes 1."""
        sides = [p.name for c in self.checks if c.kind == "broadcast" for p in (c.left, c.right)]
        return tuple(dict.fromkeys(s for s in sides if s))

    def _unify_bounds(self, a: Poly, b: Poly, what: str) -> Poly:
        """Slices `x[p:q]` and `y[p:q]` with bounds from data match if x and y are as long."""
        # an unsigned bound is never counted from the end: then it is just cut off
        bounds = [
            [t for t in p.atoms() if isinstance(t, Apply) and t.op in ("bound", "min")]
            for p in (a, b)
        ]
        for s, t in itertools.product(*bounds):
            rest = [[x for x in own.args if x not in other.args] for own, other in ((s, t), (t, s))]
            if s.op == t.op and len(rest[0]) == len(rest[1]) == 1:
                self.unify(rest[0][0], rest[1][0], what)
        if self.resolve(a) != self.resolve(b):
            raise self.place.refuse(
                "PRT903", f"{what}: sizes computed from array elements may differ"
            )
        return self.resolve(a)

    def check(self, check: ir.Check) -> None:
        """Add a test of the arguments, made only where the statement would run."""
        if (self.scope.in_while or self.scope.data_branches) and not self.scope.ranges:
            self._check_here(check)
            return
        when = check.when or extents(self)
        conditions = (*self.scope.conditions, *check.conditions)
        self.note(replace(check, when=when, conditions=conditions))

    def _check_here(self, check: ir.Check) -> None:
        """The host makes a test where the statement stands, in each iteration."""
        left, right = names = ("host_value_0_", "host_value_1_")
        test = f"{right} < {left}"
        if check.kind != "index":
            test = f"{_length(check.left, left)} != {_length(check.right, right)}"
        text = f'if {test}:\n    raise {check.error}("{check.message}")'
        sizes = (ir.Value(check.left, WEAK_INT), ir.Value(check.right, WEAK_INT))
        values = tuple(zip(names, sizes, strict=True))
        self.out.emit(ir.Host(text, self.place.origin, ir.HostKind.CHECK, values))

    def _replaced_first(self, a: Poly, b: Poly, broadcast: bool | str) -> list[Atom]:
        """The sizes that may be expressed by others: among broadcast arrays the smaller one's."""
        ranks = {n: len(self.out.buffers[n].shape) for n in self.out.buffers}
        atoms = [*b.atoms(), *a.atoms()]
        if broadcast is True and a.symbol and b.symbol:
            atoms.sort(key=lambda s: ranks.get(s.array, 0) if isinstance(s, Dim) else 0)
        return atoms

    def _stays_one(self, a: Poly, b: Poly) -> bool:
        """Whether one of two sizes is 1 where the axes of the arguments are, as that of `x[:3]`."""
        if (a.names() | b.names()) & (self.scope.indices | self.fetched):
            return False
        return any(p.replace({d.name: Poly.of(1) for d in p.dims()}).constant == 1 for p in (a, b))

    def _equate(
        self, dim: Dim, other: Poly, what: str, broadcast: bool | str, error: str, ones: bool
    ) -> None:
        kind = "equal"
        if broadcast:
            kind = "broadcast" if broadcast is True and other.symbol else "store"
        left, conditions = Poly.atom(dim), self.scope.entered
        self.note(ir.Check(kind, left, other, what, error, conditions=conditions, ones=ones))
        self.equal[dim.name] = other


def _check_steps(sizes: SizeFacts, bound: Poly) -> None:
    """The host tests that a stride which an index is multiplied by is not negative."""
    for r in sizes.scope.ranges:
        factor = factor_of(bound, r.name)
        step = None if factor is None else factor.symbol
        if factor is not None and step and not direction(sizes, factor, True):
            sizes.check(ir.Check("index", Poly(), factor, f"{step} must not be negative"))


def unclamp(sizes: SizeFacts, a: Poly, other: Poly) -> tuple[Poly, Poly] | None:
    """Two sizes of which one is a clamped bound p: with p in its place, after the host tested it.

    `L[i, :i] @ x[:i]` needs both slices to be i long: a shorter row raises in NumPy.  Returns
    None where the smallest or the largest p is not known.
    """
    clamped = _clamped(a) or _clamped(other)
    if clamped is None or not _same_bound(a, other):
        return None
    bound, size = clamped.args
    _check_steps(sizes, bound)
    low, top = lowest(sizes, bound), highest(sizes, bound)
    if (low.names() | top.names() | size.names()) & sizes.scope.indices:
        return None
    if clamped.op == "bound" and not never_negative(sizes, low):
        sizes.check(ir.Check("index", Poly(), low, "slices of different lengths meet"))
    if not never_negative(sizes, size - top):
        sizes.check(ir.Check("index", top, size, "slices of different lengths meet"))
    sides = (put(sizes.resolve(p), clamped, bound) for p in (a, other))
    first, second = (_without_zero(sizes, p) for p in sides)
    return first, second


def _without_zero(sizes: SizeFacts, p: Poly) -> Poly:
    """With q for `max(q, 0)` where q is not negative."""
    for atom in [a for a in p.atoms() if isinstance(a, Apply) and a.op == "max"]:
        inner = [q for q in atom.args if q != Poly()]
        if len(inner) == 1 and never_negative(sizes, lowest(sizes, inner[0])):
            p = put(p, atom, inner[0])
    return p


def both_whole(sizes: SizeFacts, a: Poly, other: Poly, ones: bool = False) -> Poly | None:
    """The common length of slices that differ by more than their cut at the array's end.

    `x[1 : n + 3]` and `x[2 : n + 4]` are equally long just if x has n + 4 elements, which
    the host then tests.  None where this does not follow.
    """
    cut, second = _clamped(a), _clamped(other)
    if cut is None or cut.op != "min" or (second and second.args[1:] != cut.args[1:]):
        return None
    bounds = [c.args[0] for c in (cut, second) if c is not None]
    whole = put(a, cut, cut.args[0])
    rest = other if second is None else put(other, second, second.args[0])
    if sizes.resolve(whole) != sizes.resolve(rest):
        return None
    top = bounds[0] if (bounds[0] - bounds[-1]).is_nonneg() else bounds[-1]
    highs = [highest(sizes, top), cut.args[1]]
    inside = {n for p in highs for n in p.names()} & sizes.scope.indices
    if inside or not all((top - p).is_nonneg() for p in bounds):
        return None
    message = "slices of different lengths meet"
    sizes.check(ir.Check("index", highs[0], highs[1], message, "ValueError", ones=ones))
    return whole


def _clamped(p: Poly) -> Apply | None:
    for atom in p.atoms():
        if isinstance(atom, Apply) and atom.op in ("min", "bound"):
            if not any(isinstance(x, Data) for x in atom.args[0].atoms()):
                return atom
    return None


def _same_bound(a: Poly, other: Poly) -> bool:
    left, right = _clamped(a), _clamped(other)
    return left is None or right is None or left.args[0] == right.args[0]


def _length(size: Poly, text: str) -> str:
    """A size as the host tests it: what a slice leaves of an array is never less than 0."""
    return text if size.is_nonneg() else f"max({text}, 0)"


def _positive(poly: Poly) -> Poly:
    """The terms with positive coefficients."""
    return Poly(tuple((m, c) for m, c in poly.terms if c > 0))
