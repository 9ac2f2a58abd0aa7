"""A stage over a part of another one's domain joins it, behind a test of the indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols, within
from porter.ir.context import Context
from porter.ir.rebuild import rename_axes
from porter.ir.walk import jumps
from porter.sizes.polynomial import Poly
from porter.transforms.fusion.joining import joined, with_neighbours


def merge_parts(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """`v = u.copy()` followed by `v[1:-1] += ...` is one stage, and so is what follows on `v`."""
    aliases = Aliases.of(body, context.buffers)
    return with_neighbours(body, lambda a, b: _merged(a, b, aliases))


def _merged(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> ir.Stage | None:
    """Both over the larger domain, where the elements that they share are of the same thread."""
    if not a.axes or len(a.axes) != len(b.axes) or jumps(a.body) or jumps(b.body):
        return None
    for ahead in _distances(a, b):
        if (part := _part_of(a.axes, b, ahead)) is not None:
            return joined(a, part, aliases)
        if (part := _part_of(b.axes, a, [-n for n in ahead])) is not None:
            return joined(part, b, aliases)
    return None


def _distances(a: ir.Stage, b: ir.Stage) -> Iterator[list[Poly]]:
    """How far the first one's indices are ahead where both are at one element that is stored."""
    met = [
        (x, y)
        for x, y in product(accesses(a.body), accesses(b.body))
        if x.buffer == y.buffer and (x.write or y.write)
    ]
    for x, y in {(x.index, y.index): (x, y) for x, y in met}.values():
        names = x.variant | y.variant | {s.name for s in (*a.axes, *b.axes)}
        found = [
            n
            for i, j in zip(symbols(a.axes), symbols(b.axes), strict=True)
            for n in [_distance(x, y, i, j, names)]
            if n is not None
        ]
        if len(found) == len(a.axes):
            yield found


def _distance(x: Access, y: Access, i: Poly, j: Poly, names: frozenset[str]) -> Poly | None:
    """i - j, from a dimension where the subscripts are these indices and a distance each."""
    for p, q in zip(x.index, y.index, strict=True):
        if not ((p - i).names() | (q - j).names()) & names:
            return (q - j) - (p - i)
    return None


def _part_of(whole: Sequence[ir.Axis], s: ir.Stage, ahead: Sequence[Poly]) -> ir.Stage | None:
    """The stage behind a test, over a domain that is larger and that many indices ahead."""
    axes = [
        replace(axis, lo=axis.lo + n, hi=axis.hi + n) for axis, n in zip(s.axes, ahead, strict=True)
    ]
    for part, axis in zip(axes, whole, strict=True):
        if not ((part.lo - axis.lo).is_nonneg() and (axis.hi - part.hi).is_nonneg()):
            return None
    test = within(axes, whole)
    if test is None:
        return None
    moved = zip(s.axes, symbols(whole), ahead, strict=True)
    at = {axis.name: i - n for axis, i, n in moved}
    inner = tuple(rename_axes(x, at) for x in s.body)
    return ir.Stage(tuple(whole), (ir.If(test, inner, (), s.origin),), s.origin)
