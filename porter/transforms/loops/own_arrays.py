"""Arrays that each iteration of a loop makes for itself, as a helper for one column does.

In `out[:, c] = smoothed(x[:, c])` the helper fills an array that is then copied: it may store
into the column in its place.  Any other such array gets an axis more, for the iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, makes, uses_in
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import jumps, rewrite_poly, statements, substitute_poly
from porter.sizes.polynomial import Poly, sym

#: where an element is, by where it was
Place = Callable[[Sequence[Poly]], tuple[Poly, ...]]


def store_in_place(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: an array in a loop that is copied as a whole is the place that it is copied to."""
    return tuple(_inside(s, context) for s in body)


def _inside(stmt: ir.Stmt, context: Context) -> ir.Stmt:
    if isinstance(stmt, (ir.For, ir.While)):
        return map_blocks(stmt, lambda block: _block(block, context))
    return map_blocks(stmt, lambda block: store_in_place(block, context))


def _block(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    work = [_inside(s, context) for s in body]
    for s in body:
        if isinstance(s, ir.Alloc):
            k = work.index(s)
            work[k:] = _placed(s.buffer, work[k + 1 :], context) or work[k:]
    return tuple(work)


def _placed(own: ir.Buffer, rest: Sequence[ir.Stmt], context: Context) -> list[ir.Stmt] | None:
    """What follows an allocation, without it and without the copy; None where that is another
    program."""
    last = max((k for k, s in enumerate(rest) if _mentions(s, own.name)), default=None)
    copy = rest[last] if last is not None else None
    if last is None or not isinstance(copy, ir.Write) or not _is_copy(copy, own, context):
        return None
    before = rest[:last]
    target = context.buffers[copy.buffer]
    aliases = Aliases.of(context.program.body, context.buffers)
    same = aliases.with_others({target.name}, arguments=True)
    touched = any(_mentions(s, name) for s in before for name in same)
    moved = {n for p in copy.index for n in p.names()} & defs_in(before).scalars
    if aliases.arguments(target.name) or touched or moved or jumps(before):
        return None
    if not all(map(_is_plain, before)):
        return None
    names = [a.name for a in copy.axes]

    def place(index: Sequence[Poly]) -> tuple[Poly, ...]:
        values = dict(zip(names, index, strict=True))
        return tuple(substitute_poly(p, values) for p in copy.index)

    return [*(_moved(s, own.name, target.name, place) for s in before), *rest[last + 1 :]]


def _mentions(s: ir.Stmt, name: str) -> bool:
    return name in uses_in((s,)).arrays | defs_in((s,)).arrays


def _is_copy(s: ir.Write, own: ir.Buffer, context: Context) -> bool:
    """Whether all elements are stored somewhere as they are, each in a place of its own."""
    target = context.buffers.get(s.buffer)
    if target is None or target.dtype != own.dtype or s.buffer == own.name:
        return False
    if s.mask is not None or s.combine is not None or len(s.axes) != len(own.shape):
        return False
    whole = all(a.lo == Poly() and a.hi == n for a, n in zip(s.axes, own.shape, strict=True))
    if not whole or s.body != ir.Load(own.name, symbols(s.axes), own.dtype):
        return False
    # an axis of the place is as long: -1 and what is out of bounds mean the same there
    places = dict(zip(symbols(s.axes), own.shape, strict=True))
    along = [(p, n) for p, n in zip(s.index, target.shape, strict=True)
             if p.names() & {a.name for a in s.axes}]  # fmt: skip
    once = sorted(map(str, places)) == sorted(str(p) for p, _ in along)
    return once and all(places[p] == n for p, n in along)


def _is_plain(s: ir.Stmt) -> bool:
    """Whether only kernels see what a statement does: nothing of it is the host's."""
    return all(
        isinstance(x, (ir.Def, ir.Alloc, ir.Write, ir.Let, ir.For, ir.While, ir.If, ir.Jump))
        for x in statements((s,))
    )


def one_for_each(
    axes: Sequence[ir.Axis], body: Sequence[ir.Stmt], context: Context
) -> tuple[list[ir.Stmt], tuple[ir.Stmt, ...]]:
    """The arrays that all iterations make together, and the body without its allocations.

    The iterations are the last axes, so that threads side by side store side by side.
    """
    made: list[ir.Stmt] = []
    inside = list(body)
    at = tuple(sym(a.name, True) - a.lo for a in axes)
    bound = {a.name for a in axes} | defs_in(body).scalars
    for s in body:
        for name in makes(s):
            own = context.buffers[name]
            if {n for p in own.shape for n in p.names()} & bound:
                continue
            wide = replace(own, shape=(*own.shape, *(a.extent for a in axes)))
            context.buffers[name] = wide
            made.append(ir.Alloc(wide, s.origin))
            inside = [
                _moved(x, name, name, lambda index: (*index, *at))
                for other in inside
                for x in (_stored(other) if name in makes(other) else [other])
            ]  # fmt: skip
    return made, tuple(inside)


def _stored(s: ir.Stmt) -> list[ir.Stmt]:
    """What is left of a statement that makes an array: the elements of a definition."""
    if not isinstance(s, ir.Def):
        return []
    return [ir.Write(s.name, s.axes, symbols(s.axes), s.body, s.origin)]


def _moved(s: ir.Stmt, own: str, target: str, place: Place) -> ir.Stmt:
    """A statement with the elements of an array in other places."""

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or e.buffer != own:
            return None
        return replace(e, buffer=target, index=place([rewrite_poly(p, change) for p in e.index]))

    def stored(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer == own:
            return replace(s, buffer=target, index=place(s.index))
        return map_blocks(s, lambda b: tuple(map(stored, b)))

    return stored(map_exprs(s, change))
