"""Upper and lower bounds of sizes over the ranges of indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def at_most(n: Poly, steps: int = 3) -> Poly:
    """A constant that a size is at most, if one is found in so many steps; else the size."""
    if n.constant is not None or steps == 0:
        return n
    found = (at_most(larger, steps - 1) for larger in _beyond(n, True))
    return next((x for x in found if x.constant is not None), n)


def _bound(n: Poly, ranges: Ranges, up: bool) -> Poly | None:
    n = _at_ends(n, ranges, up)
    for candidate in _beyond(n, up):
        # `min(start + 32, n) - start` is at most 32
        candidate = _at_ends(candidate, ranges, up)
        if not candidate.names() & ranges.keys():
            return candidate
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


def _at_ends(n: Poly, ranges: Ranges, up: bool) -> Poly:
    """A size with inner indices, of which it has just a multiple, at an end of their range."""
    for name, (lo, hi) in reversed(list(ranges.items())):
        for monomial, c in n.terms:
            own = Poly(((monomial, c),))
            if len(monomial) == 1 and str(monomial[0]) == name and name not in (n - own).names():
                n = n - own + (hi - 1 if up == (c > 0) else lo) * c
    return n


def _beyond(n: Poly, up: bool) -> Iterator[Poly]:
    """Sizes that are at least as large (or small): one side of a `min` (or a `max`) in its place,
    or what a quotient was rounded from."""
    for monomial, c in n.terms:
        if len(monomial) != 1 or not isinstance(monomial[0], Apply):
            continue
        atom, rest, above = monomial[0], n - Poly(((monomial, c),)), up == (c > 0)
        a, b = atom.args
        if atom.op in ("min", "max") and (atom.op == "min") == above:
            yield from (rest + side * c for side in (a, b))
        elif atom.op == "//" and b.constant is not None and b.constant > 0 and c % b.constant == 0:
            yield rest + (a if above else a - b + 1) * (c // b.constant)


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
