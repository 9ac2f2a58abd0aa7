"""Upper and lower bounds of sizes over the ranges of indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from porter.sizes.polynomial import Apply, Atom, Data, Poly, apply

#: where indices begin, and what they stay below
Ranges: TypeAlias = Mapping[str, tuple[Poly, Poly]]


def most(n: Poly, ranges: Ranges) -> Poly | None:
    """What a size is at most, free of these indices; None if that is not known."""
    return _bound(n, ranges, True)


def least(n: Poly, ranges: Ranges) -> Poly | None:
    """What it is at least."""
    return _bound(n, ranges, False)


def _bound(n: Poly, ranges: Ranges, up: bool) -> Poly | None:
    total = Poly()
    for monomial, c in n.terms:
        term = Poly(((monomial, 1),))
        if any(isinstance(a, Data) for a in term.atoms()):
            return None  # nobody knows what is read
        if term.names() & ranges.keys():
            if len(monomial) != 1:
                return None
            bound = _of_atom(monomial[0], ranges, up == (c > 0))
            if bound is None:
                return None
            term = bound
        total = total + term * c
    return total


def _of_atom(atom: Atom, ranges: Ranges, up: bool) -> Poly | None:
    """One of them has another value for each of the indices."""
    if not isinstance(atom, Apply):
        if str(atom) not in ranges:
            return None
        lo, hi = ranges[str(atom)]
        outer = {k: v for k, v in ranges.items() if k != str(atom)}
        return _bound(hi - 1 if up else lo, outer, up)
    a, b = atom.args
    if atom.op in ("min", "max"):
        both = [x for x in (_bound(a, ranges, up), _bound(b, ranges, up)) if x is not None]
        # `min` is at most either, and at least the smaller one
        if both and up == (atom.op == "min"):
            return both[0]
        return apply(atom.op, *both) if len(both) == 2 else None
    if atom.op == "//" and b.constant is not None and b.constant > 0:
        inner = _bound(a, ranges, up)
        return None if inner is None else inner // b
    return None
