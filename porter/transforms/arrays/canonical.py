"""Expressions that are equal but for the names of their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.rebuild import map_expr
from porter.ir.walk import map_operands, rewrite, substitute, walk
from porter.sizes.polynomial import Poly, sym


def canonical(e: ir.Expr, kept: Sequence[ir.Axis]) -> ir.Expr:
    """The expression with its indices named by position, so that equal ones are equal."""
    names = {a.name: sym(f"?free{k}", True) for k, a in enumerate(kept)}
    e = substitute(e, names)
    bound: dict[str, Poly] = {}
    for r in walk(e):
        for a in r.axes if isinstance(r, ir.Reduce) else ():
            bound.setdefault(a.name, sym(f"?bound{len(bound)}", True))

    def poly(p: Poly) -> Poly:
        return p.replace(bound)

    canonical = map_expr(e, poly, lambda d: d)

    def rename(x: ir.Expr) -> ir.Expr | None:
        if isinstance(x, ir.Reduce):
            axes = tuple(replace(a, name=bound[a.name].name or a.name) for a in x.axes)
            return map_operands(replace(x, axes=axes), lambda y: rewrite(y, rename))
        return None

    return rewrite(canonical, rename)
