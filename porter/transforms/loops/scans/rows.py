"""Running folds and linear recurrences along the rows of an array, each of which a thread goes
through: what a block for each row computes in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.reductions import has_data
from porter.analyses.scans import as_scan
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import expressions
from porter.ir.walk import loaded, rewrite, statements, substitute, walk
from porter.sizes.polynomial import Poly, sym
from porter.transforms.loops.scans.scan_loops import scanned


@dataclass(frozen=True)
class RowScan:
    """What each row starts with, variables and then stores, and the store of a scan along it.

    `origin` is the statement that accumulates.
    """

    lets: tuple[ir.Let, ...]
    stores: tuple[ir.Write, ...]
    scan: ir.Write
    origin: ir.Origin


def row_scan(
    axes: tuple[ir.Axis, ...], body: Sequence[ir.Stmt], context: Context
) -> RowScan | None:
    """What threads for the elements of `axes` do, if it is a scan along neighbours in memory."""
    *head, loop = body
    if not axes or not isinstance(loop, ir.For):
        return None
    lets = tuple(s for s in head if isinstance(s, ir.Let))
    stores = tuple(s for s in head if isinstance(s, ir.Write))
    if len(lets) + len(stores) < len(head) or not all(map(_is_plain, stores)):
        return None
    # a subscript out of bounds would end a thread for which others wait
    read = (e for s in statements(tuple(body)) for x in expressions(s) for e in walk(x))
    if any(isinstance(e, ir.Load) and has_data(e.index) for e in read):
        return None
    if not _are_first(lets, head, context):
        return None
    s, origin = _store(loop, context) or (None, loop.origin)
    if s is None or not _is_plain(s):
        return None
    s = as_scan(replace(s, axes=(*axes, *s.axes)))
    return RowScan(lets, stores, s, origin) if s and _runs_along_rows(s) else None


def _is_plain(s: ir.Write) -> bool:
    """Whether it is one store of an element that is certainly there."""
    return s.mask is None and not s.combine and not s.checked and not has_data(s.index)


def _are_first(lets: Sequence[ir.Let], head: Sequence[ir.Stmt], context: Context) -> bool:
    """Whether all variables may be computed before anything is stored."""
    aliases, stored = Aliases.of((), context.buffers), set[str]()
    for s in head:
        if isinstance(s, ir.Write):
            stored |= aliases.with_others({s.buffer}, arguments=True)
        elif stored & loaded(*expressions(s)):
            return False
    return len({s.name for s in lets}) == len(lets)


def _store(loop: ir.For, context: Context) -> tuple[ir.Write, ir.Origin] | None:
    """The only store of a loop, with all that it accumulates, and the statement that does.

    It is none if arguments would have to differ for it: threads for rows do not ask for that.
    """
    mark, apart = context.mark(), set(context.no_alias)
    found = scanned(loop, set(), {}, context)
    more = context.no_alias - apart
    context.no_alias &= apart
    s, origin = (None, loop.origin) if found is None or more else _one_store(found)
    if s is None:
        context.back_to(mark)
        return None
    # its names are in use, but not the array
    context.buffers.clear()
    context.buffers.update(mark[0])
    return s, origin


def _one_store(found: Sequence[ir.Stmt]) -> tuple[ir.Write | None, ir.Origin]:
    """The store that is all of a loop without what it accumulates, and that statement."""
    match found:
        case [ir.Write() as s]:
            return s, s.origin
        case [ir.Def() as made, ir.Write(axes=(axis,)) as s]:
            return _joined(made, axis, replace(s, axes=())), made.origin
        case [ir.Def() as made, ir.For(index, lo, hi, body=(ir.Write() as s,))]:
            return _joined(made, ir.Axis(index, hi, lo), s), made.origin
    return None, found[0].origin


def _joined(made: ir.Def, over: ir.Axis, s: ir.Write) -> ir.Write | None:
    """A store for each element of what was computed before, as one over that itself."""
    (axis,) = made.axes
    here = {over.name: sym(axis.name, True) + over.lo}
    load = ir.Load(made.name, (sym(over.name, True) - over.lo,), made.dtype)
    value = rewrite(s.body, lambda e: made.body if e == load else None)
    if s.axes or made.name in loaded(value) or axis.extent != over.extent:
        return None
    index: tuple[Poly, ...] = tuple(p.replace(here) for p in s.index)
    return replace(s, axes=(axis,), index=index, body=substitute(value, here))


def _runs_along_rows(s: ir.Write) -> bool:
    """Whether the elements of a line are neighbours, and the kind is one that blocks compute."""
    *_, along = s.axes
    folds = [e for e in walk(s.body) if isinstance(e, ir.Reduce)]
    plain = all(type(r) in (ir.Scan, ir.Linear) for r in folds)
    *outer, last = (p.coefficient(along.name) for p in s.index)
    return plain and last in (1, -1) and not any(outer) and _reads_in_time(s, folds[0])


def _reads_in_time(s: ir.Write, fold: ir.Reduce) -> bool:
    """Whether a tile reads nothing of the array but its own elements, and what is before them all.

    What a row starts from is read before its first tile.
    """
    *_, along = s.axes
    way = s.index[-1].coefficient(along.name) or 0
    first = s.index[-1].replace({along.name: along.lo})
    here = {fold.axes[0].name: sym(along.name, True)}
    early = set(walk(fold.start)) if isinstance(fold, ir.Linear) else set[ir.Expr]()
    for e in walk(s.body):
        if not isinstance(e, ir.Load) or e.buffer != s.buffer or e in early:
            continue
        index = tuple(p.replace(here) for p in e.index)
        gap = (index[-1] - first).constant
        if index != s.index and (gap is None or gap * way >= 0):
            return False
    return True
