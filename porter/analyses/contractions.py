"""Contractions: reductions over k of a term that is made of factors of rows and of columns."""

from __future__ import annotations

import math
from collections.abc import Set

from porter import ir
from porter.analyses.reductions import known_bounds
from porter.ir.walk import children, free_names, walk


def contraction(s: ir.Write, r: ir.Reduce) -> tuple[list[ir.Expr], list[ir.Expr]] | None:
    """The row and column factors of a reduction over k that depends on both i and j."""
    if len(s.axes) not in (2, 3) or len(r.axes) != 1 or not known_bounds(r):
        return None
    # an extreme of integers starts from an element, which threads beyond the border do not have
    if r.dtype.kind not in ("iufc" if r.op == "sum" else "f") or r.op not in ("sum", "max", "min"):
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


def vanishes(e: ir.Expr, operands: Set[ir.Expr]) -> bool:
    """Whether a term is zero where the operands are: tiles are filled up with zeros then.

    What else it is made of may be infinite, and infinity times zero is not zero.
    """
    if e in operands:
        return e.dtype.kind in "iufc"
    if isinstance(e, ir.Cast):
        return vanishes(e.arg, operands)
    if not isinstance(e, ir.Op):
        return False
    match e.op, e.args:
        case (("add" | "sub" | "neg" | "pos" | "abs"), args):
            return all(vanishes(a, operands) for a in args)
        case "mul", (a, b):
            return any(
                vanishes(x, operands) and (vanishes(y, operands) or _is_finite(y))
                for x, y in ((a, b), (b, a))
            )
        case "pow", (a, b):
            return vanishes(a, operands) and _is_finite(b, above=0)
    return False


def _is_finite(e: ir.Expr, above: float = -math.inf) -> bool:
    """Whether it is a finite number above this one."""
    number = e.value if isinstance(e, ir.Const) else None
    return isinstance(number, (int, float)) and math.isfinite(number) and number > above


def is_fast(e: ir.Expr, own: str, k: str) -> bool:
    """Whether neighbours along k, rather than along the own index, are neighbours in memory."""
    load = next(x for x in walk(e) if isinstance(x, ir.Load) and k in free_names(x))
    return bool(load.index[-1].coefficient(k)) and not load.index[-1].coefficient(own)
