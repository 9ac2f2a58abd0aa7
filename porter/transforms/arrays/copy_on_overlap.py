"""Stores whose right side reads the target elsewhere go through a temporary, as in NumPy.

Where all such reads are of fewer elements than are stored, as in `d - d[k]`, these are copied;
otherwise what is stored is computed first, and then copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import plain
from porter.analyses.dependence import never
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.aliasing import Aliases
from porter.ir.axes import Range, symbols
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks
from porter.ir.walk import always, rewrite, substitute, walk
from porter.sizes.polynomial import Poly, sym


def copy_on_overlap(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: where a read may meet an element that another thread stores."""
    return _copied(body, (), context, Aliases.of(body, context.buffers))


def _copied(
    body: tuple[ir.Stmt, ...], loops: tuple[Range, ...], context: Context, aliases: Aliases
) -> tuple[ir.Stmt, ...]:
    """The host's statements inside of loops."""
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Write) and s.axes:
            result += _write(s, loops, context, aliases)
        elif isinstance(s, ir.Stage):
            result.append(s)
        else:
            result.append(_inside(s, loops, context, aliases))
    return tuple(result)


def _inside(s: ir.Stmt, loops: tuple[Range, ...], context: Context, aliases: Aliases) -> ir.Stmt:
    inner = (*loops, Range.of(s)) if isinstance(s, ir.For) else loops
    return map_blocks(s, lambda b: _copied(b, inner, context, aliases))


def _write(
    s: ir.Write, loops: tuple[Range, ...], context: Context, aliases: Aliases
) -> Iterator[ir.Stmt]:
    exprs = (s.body,) if s.mask is None else (s.mask, s.body)
    found = [list(_colliding(s, e, aliases)) for e in exprs]
    smaller = list(_smaller(s, exprs, [e for each in found for e in each], loops))
    if smaller and None not in smaller:
        yield from _read_first(s, [e for e in smaller if e is not None], loops, context)
        return
    masked = s.mask is not None and bool(found[0])
    if found[-1]:
        before: list[ir.Stmt] = []
        s = replace(s, body=_held(s, s.body, before, context, "new"))
        yield from before
    if s.mask is not None and masked:
        before = []
        mask = _held(s, s.mask, before, context, "mask")
        yield from before
        s = replace(s, mask=replace(mask, dtype=BOOL))
    yield s


def _smaller(
    s: ir.Write, exprs: Sequence[ir.Expr], loads: Sequence[ir.Load], loops: tuple[Range, ...]
) -> Iterator[ir.Load | None]:
    """Those of the colliding reads that are of fewer elements than are stored; None for others."""
    ranges = (*loops, *map(Range.of, s.axes))
    own = {a.name for a in s.axes}
    folded = {a.name for e in exprs for x in walk(e) if isinstance(x, ir.Reduce) for a in x.axes}
    surely = set(always(exprs[0]))
    for e in dict.fromkeys(loads):
        names = {n for p in e.index for n in p.names()}
        fits = not names & folded and not names >= own and not has_data(e.index)
        yield e if fits and (e in surely or _in_domain(s, e, ranges)) else None


def _in_domain(s: ir.Write, e: ir.Load, ranges: tuple[Range, ...]) -> bool:
    """Whether the element is one that the statement stores, and so exists."""
    if e.buffer != s.buffer:
        return False
    for stored, read in zip(s.index, e.index, strict=True):
        along = [a for a in s.axes if a.name in stored.names()]
        if len(along) != 1 or stored.coefficient(along[0].name) != 1:
            return False
        at = read - stored + sym(along[0].name, True)
        below, above = along[0].lo - 1 - at, at - along[0].hi
        if not (never((below,), ranges) and never((above,), ranges)):
            return False
    return True


def _read_first(
    s: ir.Write, loads: list[ir.Load], loops: tuple[Range, ...], context: Context
) -> Iterator[ir.Stmt]:
    """Copies of what is read, and the statement with them."""
    copies: dict[ir.Expr, ir.Expr] = {}
    for e in loads:
        names = {n for p in e.index for n in p.names()}
        axes = tuple(a for a in s.axes if a.name in names)
        rest = [a.extent for a in s.axes if a not in axes]
        buffer = context.buffer(f"{e.buffer}_old", axes, e.dtype)
        new, moved = context.fresh_axes(axes)
        mask = None
        for extent in rest:
            # without any element the statement reads nothing
            if not never((-extent,), (*loops, *map(Range.of, axes))):
                some = ir.Op("gt", (ir.Value(extent, INT64), ir.Const(0, INT64)), BOOL)
                mask = some if mask is None else ir.Op("and", (mask, some), BOOL)
        index = tuple(p - a.lo for p, a in zip(symbols(new), new, strict=True))
        yield ir.Alloc(buffer, s.origin)
        yield ir.Write(buffer.name, new, index, substitute(e, moved), s.origin, mask)
        at = tuple(p - a.lo for p, a in zip(symbols(axes), axes, strict=True))
        copies[e] = ir.Load(buffer.name, at, e.dtype)
    held = None if s.mask is None else rewrite(s.mask, copies.get)
    yield replace(s, body=rewrite(s.body, copies.get), mask=held)


def _held(
    s: ir.Write, expr: ir.Expr, before: list[ir.Stmt], context: Context, name: str
) -> ir.Load:
    """The value of an expression over the statement's domain, stored first."""
    buffer = context.buffer(f"{s.buffer}_{name}", s.axes, expr.dtype)
    new, names = context.fresh_axes(s.axes)
    index = tuple(p - a.lo for p, a in zip(symbols(new), new, strict=True))
    before += [
        ir.Alloc(buffer, s.origin),
        ir.Write(buffer.name, new, index, substitute(expr, names), s.origin),
    ]
    at = tuple(p - a.lo for p, a in zip(symbols(s.axes), s.axes, strict=True))
    return ir.Load(buffer.name, at, expr.dtype)


def _colliding(s: ir.Write, expr: ir.Expr, aliases: Aliases) -> Iterator[ir.Load]:
    """The reads of elements that another thread may store."""
    for e in walk(expr):
        if not isinstance(e, ir.Load):
            continue
        if aliases.meet_at(s, e.buffer, s.buffer) or (
            e.buffer == s.buffer and not safe(s, e.index)
        ):
            yield e


def safe(s: ir.Write, index: tuple[Poly, ...]) -> bool:
    """Whether a read is at the written element itself, or never at any written one."""
    if index == s.index and s.combine == "once":
        return True
    if index == s.index:
        return all(any(a.name in p.names() for p in s.index) for a in s.axes)
    for w, r in zip(s.index, index, strict=True):
        w, r = plain(w), plain(r)
        gap = (w - r).constant
        if gap is None and _always_behind(s, w, r):
            return True
        if not gap:
            continue
        strides = [c for a in s.axes if (c := w.coefficient(a.name)) != 0]
        if not strides:
            return True
        if len(strides) == 1 and strides[0] and gap % strides[0]:
            return True
    return False


def _always_behind(s: ir.Write, w: Poly, r: Poly) -> bool:
    """Whether every read is at a lower subscript than every store, of other threads too."""
    first, last = _extreme(s, w, low=True), _extreme(s, r, low=False)
    return first is not None and last is not None and (first - last).is_positive()


def _extreme(s: ir.Write, p: Poly, low: bool) -> Poly | None:
    for a in s.axes:
        factor = p.coefficient(a.name)
        if factor is None:
            return None
        if factor:
            p = p.replace({a.name: a.lo if (factor > 0) == low else a.hi - 1})
    return p
