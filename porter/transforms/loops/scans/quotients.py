"""`y = (p * y + q) / (r * y + s)`: quotients of two linear functions of the old value.

A step of sums, products, quotients and choices that do not depend on the old value is brought to
this form: numerator and denominator are polynomials in the old value and in what does not contain
it.  Equal terms cancel, as in `(1 - y / (y + a)) * y`, whose numerator is `a * y`.  The form holds
but for rounding, and where nothing on the way is infinite: the schedule compares each element with
what the source's own step makes of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from porter import ir
from porter.dtypes.dtype import DType
from porter.ir.scalars import cast, constant_of, number
from porter.ir.walk import walk
from porter.transforms.loops.scans.second_order import has_kernels

#: how many terms a numerator or a denominator may have on the way
MOST_TERMS = 24


@dataclass(frozen=True)
class Ratio:
    """`(factor * y + body) / (weight * y + rest)`."""

    factor: ir.Expr
    body: ir.Expr
    weight: ir.Expr
    rest: ir.Expr

    @property
    def parts(self) -> tuple[ir.Expr, ...]:
        """All that it consists of."""
        return self.factor, self.body, self.weight, self.rest

    @property
    def nodes(self) -> Iterator[ir.Expr]:
        """All that these consist of."""
        return (x for e in self.parts for x in walk(e))

    def changed(self, change: Callable[[ir.Expr], ir.Expr | None]) -> Ratio | None:
        """The step with other parts, if there are such."""
        parts = [x for x in map(change, self.parts) if x is not None]
        return Ratio(*parts) if len(parts) == 4 else None


def ratio(step: ir.Expr, old: ir.Expr) -> Ratio | None:
    """A step that divides by what has the old value in it; None if it is another one.

    Steps without such a division are linear.
    """
    dtype = step.dtype
    if dtype.kind != "f" or not has_kernels(replace(dtype, weak=False)):
        return None
    if any(isinstance(x, ir.Reduce) for x in walk(step)):
        return None
    found = _Terms(old, dtype).cases(step)
    return None if found is None or constant_of(found.weight) == 0 else found


#: what a product consists of, by its place in a list and in order, and how often it is added
_Sum = Mapping[tuple[int, ...], float]
_ONE: _Sum = {(): 1}
#: the place of the old value
_OLD = 0


class _TooLong(Exception):
    """A sum of more terms than are worth it."""


@dataclass
class _Terms:
    """Reads expressions as quotients of sums of products."""

    old: ir.Expr
    dtype: DType
    atoms: list[ir.Expr] = field(init=False)

    def __post_init__(self) -> None:
        self.atoms = [self.old]

    def cases(self, e: ir.Expr) -> Ratio | None:
        """The parts of a step, in each case of a choice."""
        if isinstance(e, ir.Select) and not _has(e.cond, self.old):
            one, other = self.cases(e.then), self.cases(e.other)
            if one is None or other is None:
                return None
            both = zip(one.parts, other.parts, strict=True)
            return Ratio(*(a if a == b else replace(e, then=a, other=b) for a, b in both))
        try:
            found = self.read(e)
        except _TooLong:
            return None
        if found is None:
            return None
        parts = [part for terms in found for part in self.linear(terms)]
        return None if None in parts else Ratio(*(p for p in parts if p is not None))

    def read(self, e: ir.Expr) -> tuple[_Sum, _Sum] | None:
        """Numerator and denominator; None if the old value stands in something else."""
        if e != self.old and not _has(e, self.old):
            return self.free(e), _ONE
        if e == self.old:
            return {(_OLD,): 1}, _ONE
        if not isinstance(e, ir.Op) or e.dtype != self.dtype:
            return None
        if e.op not in ("add", "sub", "mul", "truediv", "neg", "pos"):
            return None
        args = [x for x in map(self.read, e.args) if x is not None]
        return _combined(e.op, args) if len(args) == len(e.args) else None

    def free(self, e: ir.Expr) -> _Sum:
        """What does not contain the old value, as a number or as a whole."""
        known = constant_of(e)
        if isinstance(known, (int, float)) and not isinstance(known, bool):
            if known == 0:
                return {}
            if known - known == 0:
                return {(): known}
        if e not in self.atoms:
            self.atoms.append(e)
        return {(self.atoms.index(e),): 1}

    def linear(self, terms: _Sum) -> Iterator[ir.Expr | None]:
        """What the old value is multiplied with in a sum, and the rest; None for higher powers."""
        for power in (1, 0):
            chosen = {k: n for k, n in terms.items() if k.count(_OLD) == power}
            yield self.expr({tuple(a for a in k if a != _OLD): n for k, n in chosen.items()})
        if any(k.count(_OLD) > 1 for k in terms):
            yield None

    def expr(self, terms: _Sum) -> ir.Expr:
        """A sum as an expression."""
        total: ir.Expr | None = None
        for places, times in terms.items():
            product = self.product(places, abs(times))
            if total is not None:
                total = ir.Op("sub" if times < 0 else "add", (total, product), self.dtype)
            else:
                total = ir.Op("neg", (product,), self.dtype) if times < 0 else product
        return self.literal(0.0) if total is None else total

    def product(self, places: tuple[int, ...], times: float) -> ir.Expr:
        """A product of things that there are, so many times."""
        factors = [cast(self.atoms[k], self.dtype) for k in places]
        if times != 1 or not factors:
            factors.insert(0, self.literal(times))
        result = factors[0]
        for x in factors[1:]:
            result = ir.Op("mul", (result, x), self.dtype)
        return result

    def literal(self, value: float) -> ir.Expr:
        """A number of the step's dtype."""
        return cast(number(float(value)), self.dtype)


def _has(e: ir.Expr, old: ir.Expr) -> bool:
    return any(x == old for x in walk(e))


def _combined(op: str, args: list[tuple[_Sum, _Sum]]) -> tuple[_Sum, _Sum]:
    """An operation of quotients as one."""
    (a, b), *others = args
    if not others:
        return (_times(a, {(): -1}) if op == "neg" else a), b
    ((c, d),) = others
    match op:
        case "mul" | "truediv":
            if op == "truediv":
                c, d = d, c
            # what is equal cancels
            if a == d:
                return c, b
            return (a, d) if b == c else (_times(a, c), _times(b, d))
        case "sub":
            c = _times(c, {(): -1})
    if b == d:
        return _plus(a, c), b
    return _plus(_times(a, d), _times(c, b)), _times(b, d)


def _plus(left: _Sum, right: _Sum) -> _Sum:
    terms = dict(left)
    for places, times in right.items():
        terms[places] = terms.get(places, 0) + times
    return _short(terms)


def _times(left: _Sum, right: _Sum) -> _Sum:
    terms: dict[tuple[int, ...], float] = {}
    for a, n in left.items():
        for b, m in right.items():
            places = tuple(sorted((*a, *b)))
            terms[places] = terms.get(places, 0) + n * m
    return _short(terms)


def _short(terms: Mapping[tuple[int, ...], float]) -> _Sum:
    kept = {places: times for places, times in terms.items() if times}
    if len(kept) > MOST_TERMS:
        raise _TooLong
    return kept
