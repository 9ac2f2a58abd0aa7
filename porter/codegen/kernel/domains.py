"""Domains of threads and blocks as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from porter import ir
from porter.codegen.kernel.writer import Writer
from porter.sizes.polynomial import Apply, Poly, lengths


def unflatten(w: Writer, flat: str, axes: Sequence[ir.Axis]) -> None:
    """Subscripts of a flattened domain: the last axis varies fastest."""
    rest = flat
    for d in range(len(axes) - 1, 0, -1):
        a = axes[d]
        size = w.poly(a.extent, 10)
        if d < len(axes) - 1:
            w.emit(f"rest = {rest}")
            rest = "rest"
        offset = w.poly(a.lo)
        lead = "" if offset == "0" else f"{offset} + "
        w.emit(f"{w.index(a.name)} = {lead}{rest} % {_grouped(size)}")
        rest = f"{rest} // {_grouped(size)}"
    a = axes[0]
    offset = w.poly(a.lo)
    lead = "" if offset == "0" else f"{offset} + "
    w.emit(f"{w.index(a.name)} = {lead}{rest}")


def _grouped(text: str) -> str:
    """In parentheses, unless it is one operand already; `(a) // (b)` is not."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and (c in "+-*/% " or (c == ")" and k < len(text) - 1)):
            return f"({text})"
    return text


def product(sizes: Iterable[Poly]) -> Poly:
    """The number of elements of a domain with these extents, at most 0 of an empty one.

    Sums are not multiplied out: `(n - 2) * (m - 2)` is what a reader expects.  One factor may
    be negative, which is empty; the product of two such would be elements that are not there.
    """
    total = Poly.of(1)
    for n in lengths(sizes):
        whole = len(total.terms) < 2 and len(n.terms) < 2
        apart = Poly.atom(Apply("*", (total, n)))
        total = total * n if whole or 1 in (total.constant, n.constant) else apart
    return total
