"""Which schedule a reduction gets, from the indices that it depends on."""

from __future__ import annotations

from collections.abc import Iterable

from porter import ir
from porter.ir.walk import children, free_names, walk
from porter.sizes.polynomial import Data, Poly

WARP = 32


def reductions(expr: ir.Expr) -> list[ir.Reduce]:
    """The outermost reductions of an expression."""
    if isinstance(expr, ir.Reduce):
        return [expr]
    return [r for c in children(expr) for r in reductions(c)]


def cooperative(s: ir.Write) -> str | None:
    """`scan`, `total`, `tile` or `rows` if threads work together on the store, else None."""
    found = reductions(s.body)
    if not found or s.mask is not None or s.combine is not None or has_data(s.index):
        return None
    if any(isinstance(r, ir.Scan) for r in found):
        return "scan"
    if not s.axes:
        return "total" if all(known_bounds(r) for r in found) else None
    if len(found) == 1 and contraction(s, found[0]) is not None:
        return "tile"
    # how many threads a row needs is asked once, for all rows
    own = {a.name for a in s.axes}
    if any((a.lo.names() | a.hi.names()) & own for r in found for a in r.axes):
        return None
    if any(_along_output(s, r) or _short(r) for r in found):
        return None
    return "rows" if all(along_fast_axis(r) for r in found) else None


def _short(r: ir.Reduce) -> bool:
    """Whether most threads of a block would have nothing to do along the last axis."""
    extent = r.axes[-1].extent.constant
    return extent is not None and extent < WARP


def _along_output(s: ir.Write, r: ir.Reduce) -> bool:
    """Whether neighbouring elements of a matrix or more read neighbours, or the same elements.

    Then a thread for each of them reads in coalesced order and needs no barriers: the sums of
    a convolution or of a small product of matrices.  A vector has too few elements for that.
    """
    if len(s.axes) < 2:
        return False
    inner = {a.name for a in r.axes}
    out, last = s.axes[-1].name, r.axes[-1].name
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load) and free_names(e) & inner]
    along_last = [e for e in loads if e.index[-1].coefficient(last)]
    along_out = [e for e in loads if e.index[-1].coefficient(out)]
    return bool(along_out) and not any(out in free_names(e) for e in along_last)


def has_data(index: Iterable[Poly]) -> bool:
    """Whether a subscript is read from data."""
    return any(isinstance(a, Data) for p in index for a in p.atoms())


def known_bounds(r: ir.Reduce) -> bool:
    """Whether the host knows the bounds of the reduction."""
    bounds = [p for a in r.axes for p in (a.lo, a.hi)]
    if any(isinstance(x, Data) for p in bounds for x in p.atoms()):
        return False
    inner = {a.name for a in r.axes}
    return not any(p.names() & inner for p in bounds)


def along_fast_axis(r: ir.Reduce) -> bool:
    """Whether neighbours along the last reduced index are neighbours in memory."""
    if not known_bounds(r):
        return False
    name = r.axes[-1].name
    loads = [e for e in walk(r.body) if isinstance(e, ir.Load) and e.index]
    return any(e.index[-1].coefficient(name) in (1, -1) for e in loads)


def contraction(s: ir.Write, r: ir.Reduce) -> tuple[list[ir.Expr], list[ir.Expr]] | None:
    """The row and column factors of a reduction over k that depends on both i and j."""
    if len(s.axes) not in (2, 3) or len(r.axes) != 1 or not known_bounds(r):
        return None
    if r.dtype.kind not in "iuf" or r.op not in ("sum", "max", "min"):
        return None
    row, column = s.axes[-2].name, s.axes[-1].name
    k = r.axes[0]
    if (k.lo.names() | k.hi.names()) & {a.name for a in s.axes}:
        return None
    lefts: list[ir.Expr] = []
    rights: list[ir.Expr] = []
    if not _split(r.body, row, column, k, lefts, rights) or not lefts or not rights:
        return None
    return lefts, rights


def _split(
    e: ir.Expr, row: str, column: str, k: ir.Axis, lefts: list[ir.Expr], rights: list[ir.Expr]
) -> bool:
    """Collect the largest parts that read arrays and depend on only one of the two."""
    loads = [x for x in walk(e) if isinstance(x, ir.Load)]
    if not loads:
        return k.name not in free_names(e)
    if any(isinstance(x, ir.Reduce) for x in walk(e)):
        return False
    names = free_names(e)
    if not {row, column} <= names and k.name in names:
        side = lefts if row in names else rights
        if row not in names and column not in names:
            return False
        if e not in side:
            side.append(e)
        return True
    if isinstance(e, ir.Load):
        return False
    return all(_split(c, row, column, k, lefts, rights) for c in children(e))
