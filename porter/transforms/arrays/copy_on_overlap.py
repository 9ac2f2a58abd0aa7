"""Stores whose right side reads the target elsewhere go through a temporary, as in NumPy."""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.analyses.accesses import plain
from porter.dtypes.dtype import BOOL
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.rebuild import map_host
from porter.ir.walk import substitute, walk
from porter.sizes.polynomial import Poly


def copy_on_overlap(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: where a read may meet an element that another thread stores."""
    aliases = Aliases.of(body, context.buffers)
    return map_host(body, lambda s: _write(s, context, aliases))


def _write(s: ir.Stmt, context: Context, aliases: Aliases) -> list[ir.Stmt] | None:
    if not isinstance(s, ir.Write) or not s.axes:
        return None
    before: list[ir.Stmt] = []
    masked = s.mask is not None and _collides(s, s.mask, aliases)
    if _collides(s, s.body, aliases):
        s = replace(s, body=_held(s, s.body, before, context, "new"))
    if s.mask is not None and masked:
        mask = _held(s, s.mask, before, context, "mask")
        s = replace(s, mask=replace(mask, dtype=BOOL))
    return [*before, s]


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


def _collides(s: ir.Write, expr: ir.Expr, aliases: Aliases) -> bool:
    for e in walk(expr):
        if not isinstance(e, ir.Load):
            continue
        if aliases.meet_at(s, e.buffer, s.buffer) or (
            e.buffer == s.buffer and not safe(s, e.index)
        ):
            return True
    return False


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
