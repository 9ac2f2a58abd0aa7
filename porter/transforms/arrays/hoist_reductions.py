"""Reductions get statements of their own, over just the indices that they depend on.

After this pass a statement over the domain I contains a Reduce only if it depends on all
of I: a reduction over nothing else is a statement without axes (a grid-wide total), one
over part of I a statement over that part (a row's sum), computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_blocks
from porter.ir.walk import (
    children,
    free_names,
    loaded,
    map_operands,
    rewrite,
    scalars_of,
    substitute,
)
from porter.sizes.polynomial import Poly
from porter.transforms.arrays.canonical import canonical
from porter.transforms.arrays.unreached import guarded


def hoist_reductions(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass, over one statement list and those inside it."""
    return _block(body, context, Aliases.of(body, context.buffers))


def _block(body: tuple[ir.Stmt, ...], context: Context, aliases: Aliases) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    known: dict[ir.Expr, tuple[str, frozenset[str]]] = {}
    twice = _repeated(body)
    for s in body:
        if isinstance(s, (ir.Def, ir.Write)):
            s = _hoisted(s, result, known, twice, context)
        elif not isinstance(s, ir.Stage):
            s = map_blocks(s, lambda b: _block(b, context, aliases))
        result.append(s)
        changed = aliases.with_others(defs_in((s,)).arrays, arguments=True) | defs_in((s,)).scalars
        known = {k: v for k, v in known.items() if not (v[1] & changed)}
        if (
            isinstance(s, ir.Def)
            and isinstance(s.body, ir.Reduce)
            and all(a.name in free_names(s.body) and a.lo == Poly() for a in s.axes)
        ):
            key = canonical(s.body, s.axes)
            known.setdefault(key, (s.name, _sources(s.body) | {s.name}))
    return tuple(result)


def _hoisted(
    s: ir.Def | ir.Write, before: list[ir.Stmt], known: dict[ir.Expr, tuple[str, frozenset[str]]],
    twice: set[ir.Expr], context: Context,
) -> ir.Stmt:  # fmt: skip
    def hoist(expr: ir.Expr, domain: Sequence[ir.Axis]) -> ir.Expr:
        def change(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Reduce):
                return None
            used = free_names(e)
            kept = [a for a in domain if a.name in used or _bounds(a, domain)]
            inner = map_operands(e, lambda x: hoist(x, [*domain, *e.axes]))
            key = canonical(e, kept)
            again = isinstance(s, ir.Def) and key in twice
            if e is s.body:  # a copy of a number costs nothing, one of an array a launch
                again = isinstance(s, ir.Def) and not domain and key in known
            if len(kept) == len(domain) and not again:
                return inner
            inner, kept = guarded(inner, kept, domain, context)
            return _define(inner, kept, s.origin, before, known, context)

        return rewrite(expr, change)

    body = hoist(s.body, s.axes)
    if isinstance(s, ir.Write) and s.mask is not None:
        return replace(s, body=body, mask=hoist(s.mask, s.axes))
    return replace(s, body=body)


def _repeated(body: Sequence[ir.Stmt]) -> set[ir.Expr]:
    """Reductions that occur more than once in a list, whatever their indices are called."""
    seen: dict[ir.Expr, int] = {}
    for s in body:
        if isinstance(s, ir.Def):
            _count(s.body, s.axes, seen)
    return {e for e, times in seen.items() if times > 1}


def _count(expr: ir.Expr, domain: Sequence[ir.Axis], seen: dict[ir.Expr, int]) -> None:
    if isinstance(expr, ir.Reduce):
        used = free_names(expr)
        kept = [a for a in domain if a.name in used or _bounds(a, domain)]
        key = canonical(expr, kept)
        seen[key] = seen.get(key, 0) + 1
        domain = [*domain, *expr.axes]
    for child in children(expr):
        _count(child, domain, seen)


def _bounds(axis: ir.Axis, domain: Sequence[ir.Axis]) -> bool:
    """Whether an axis bounds another one, which must be kept with it."""
    return any(axis.name in (a.lo.names() | a.hi.names()) for a in domain)


def _define(
    e: ir.Reduce, kept: Sequence[ir.Axis], origin: ir.Origin, before: list[ir.Stmt],
    known: dict[ir.Expr, tuple[str, frozenset[str]]], context: Context,
) -> ir.Expr:  # fmt: skip
    """A definition of the reduction over the kept axes, or the earlier one that equals it."""
    key = canonical(replace(e), kept)
    index = tuple(p - a.lo for p, a in zip(symbols(kept), kept, strict=True))
    if key not in known:
        new, names = context.fresh_axes(kept)
        shifted = {a.name: names[a.name] + a.lo for a in kept}
        axes = tuple(ir.Axis(n.name, n.extent) for n in new)
        buffer = context.buffer(RESULT_NAMES[e.op], axes, e.dtype)
        inner = _fresh_bound(substitute(e, shifted), context)
        before.append(ir.Def(buffer.name, axes, e.dtype, inner, origin))
        known[key] = (buffer.name, _sources(e))
    return ir.Load(known[key][0], index, e.dtype)


def _sources(e: ir.Reduce) -> frozenset[str]:
    return frozenset(loaded(e) | scalars_of(e))


def _fresh_bound(e: ir.Expr, context: Context) -> ir.Expr:
    assert isinstance(e, ir.Reduce)
    axes, names = context.fresh_axes(e.axes)
    return map_operands(replace(e, axes=axes), lambda x: substitute(x, names))
