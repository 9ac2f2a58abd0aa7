"""Lengths of whole arrays, and positions in arrays that may be empty."""

from __future__ import annotations

from collections.abc import Iterable

from porter.sizes.polynomial import Apply, Poly, apply, maximum


def strays(index: Poly) -> bool:
    """Whether a position in a part of an axis may lie outside of the axis where the part is empty.

    There it is 0 (`wrap`), and so is the whole subscript, unless something is added to it.
    """
    if not any(isinstance(a, Apply) and a.op == "wrap" for a in index.atoms()):
        return False
    first = index.map_atoms(Poly.atom, lambda op, a, b: Poly() if op == "wrap" else apply(op, a, b))
    return first != Poly()


def lengths(sizes: Iterable[Poly]) -> tuple[Poly, ...]:
    """The extents; of two that may be negative the product is no length, so none is."""
    found = tuple(sizes)
    if sum(not n.is_nonneg() for n in found) > 1:
        return tuple(n if n.is_nonneg() else maximum(n, 0) for n in found)
    return found


def product(sizes: Iterable[Poly]) -> Poly:
    """How many elements an array of these sizes has."""
    total = Poly.of(1)
    for n in sizes:
        total *= n
    return total
