"""Domains of threads and blocks as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.arrays.sizes import Poly
from porter.codegen.writer import Writer
from porter.ir.nodes import Axis


def unflatten(w: Writer, flat: str, axes: Sequence[Axis]) -> None:
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


def product(sizes: Iterator[Poly] | Sequence[Poly]) -> Poly:
    """The number of elements of a domain with these extents."""
    total = Poly.of(1)
    for n in sizes:
        total *= n
    return total
