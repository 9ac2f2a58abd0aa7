"""Amounts that depend on sizes: as formulas, and as numbers where the sizes are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from porter.sizes.polynomial import BORDERS, Apply, Atom, Poly, Symbol, sym

#: stands for a length that only the data tell
UNKNOWN = "?"


class SizeUnknown(Exception):
    """An amount depends on what no size tells."""


@dataclass(frozen=True)
class Amount:
    """`each` times the factors, no more than `each` times the factors of `limit`."""

    each: int
    factors: tuple[Poly, ...] = ()
    limit: tuple[Poly, ...] | None = None

    def times(self, factors: tuple[Poly, ...]) -> Amount:
        """So often that much."""
        if self.limit is None:
            return Amount(self.each, (*factors, *self.factors))
        return Amount(self.each, (*factors, *self.factors), (*factors, *self.limit))

    def number(self, sizes: Mapping[str, int]) -> float:
        """How much for these sizes. Raises SizeUnknown."""
        if self.limit is None:
            return self.each * _product(self.factors, sizes)
        most = self.each * _product(self.limit, sizes)
        try:
            return min(self.each * _product(self.factors, sizes), most)
        except SizeUnknown:
            return most

    @property
    def formula(self) -> Poly:
        """The amount as a polynomial, the limit only where nothing else is known."""
        factors = self.factors
        if self.limit is not None and any(UNKNOWN in f.names() for f in factors):
            factors = self.limit
        result = Poly.of(self.each)
        for f in factors:
            result *= f
        return result


def total(amounts: Iterable[Amount], sizes: Mapping[str, int]) -> float:
    """The sum for these sizes. Raises SizeUnknown."""
    return sum(a.number(sizes) for a in amounts)


def formula(amounts: Iterable[Amount]) -> Poly:
    """The sum as a polynomial over the sizes of the arguments."""
    return sum((a.formula for a in amounts), Poly())


def unknown() -> Poly:
    """A length that only the data tell."""
    return sym(UNKNOWN, True)


def value(poly: Poly, sizes: Mapping[str, int]) -> int:
    """A polynomial for these sizes. Raises SizeUnknown."""
    return sum(c * prod(_atom(a, sizes) for a in monomial) for monomial, c in poly.terms)


def _product(factors: Iterable[Poly], sizes: Mapping[str, int]) -> int:
    # a negative extent is an empty one
    return prod(max(0, value(f, sizes)) for f in factors)


def _atom(atom: Atom, sizes: Mapping[str, int]) -> int:
    if isinstance(atom, Symbol) and atom.name in sizes:
        return sizes[atom.name]
    if isinstance(atom, Apply):
        a, b = (value(p, sizes) for p in atom.args)
        return _applied(atom.op, a, b)
    raise SizeUnknown(str(atom))


def _applied(op: str, a: int, b: int) -> int:
    if op in ("//", "%"):
        if b == 0:
            raise SizeUnknown("a division by zero")
        return a // b if op == "//" else a % b
    if op == "**":
        return int(a ** max(b, 0))
    if op == "bound":
        return min(max(a + b if a < 0 else a, 0), b)
    if op in BORDERS:
        return BORDERS[op](a, b)
    if op == "wrap":
        return a + b if a < 0 else a
    return min(a, b) if op == "min" else max(a, b)
