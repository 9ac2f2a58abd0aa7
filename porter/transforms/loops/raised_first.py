"""What an iteration raises before it does anything else, raised before the loop.

A helper that tests its arguments does so in each iteration of the loop that calls it.  A test of
what no iteration changes fails in the first one or in none, and in its place threads can run.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import WEAK_INT
from porter.ir.context import Context
from porter.ir.effects import defs_in, expressions
from porter.ir.rebuild import map_blocks, map_exprs, variables_as
from porter.ir.scalars import constant_of, number, operate, poly_of
from porter.ir.walk import only_raises, rewrite, scalars_of, statements, walk

_COMPARED = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


def raise_first(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: tests of a loop's first statements that are the same in all iterations."""
    del context
    return _block(body)


def _block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    for s in body:
        s = map_blocks(s, _block)
        result += _apart(s) if isinstance(s, ir.For) else [s]
    return tuple(result)


def _apart(loop: ir.For) -> list[ir.Stmt]:
    """The tests, then the loop without them."""
    first: list[ir.If] = []
    rest = list(loop.body)
    values: dict[str, ir.Expr] = {}
    changing = {loop.index} | defs_in(loop.body).scalars
    for s in loop.body:
        if isinstance(s, ir.Let):
            if not _is_steady(s.value, changing, values):
                break
            values[s.name] = rewrite(s.value, variables_as(values))
        elif isinstance(s, ir.If) and only_raises(s):
            parts = (e for x in statements((s,)) for e in expressions(x))
            if not all(_is_steady(e, changing, values) for e in parts):
                break
            test = map_exprs(map_exprs(s, variables_as(values)), _settled)
            if constant_of(test.cond) is not False or test.orelse:
                first.append(test)
            rest.remove(s)
        else:
            break
    if not first:
        return [replace(loop, body=tuple(rest))]
    low, high = (loop.lo, loop.hi) if loop.step > 0 else (loop.hi, loop.lo)
    runs = operate("lt", ir.Value(low, WEAK_INT), ir.Value(high, WEAK_INT))
    return [ir.If(runs, tuple(first), (), loop.origin), replace(loop, body=tuple(rest))]


def _is_steady(e: ir.Expr, changing: set[str], values: Mapping[str, ir.Expr]) -> bool:
    """Whether an expression is the same number in all iterations, which the host knows."""
    plain = not any(isinstance(x, (ir.Load, ir.Reduce)) for x in walk(e))
    return plain and not scalars_of(e) & (changing - values.keys())


def _settled(e: ir.Expr) -> ir.Expr | None:
    """The truth of a comparison of sizes that differ by a constant: `n > n`."""
    if not isinstance(e, ir.Op) or e.op not in _COMPARED or len(e.args) != 2:
        return None
    one, other = map(poly_of, e.args)
    apart = None if one is None or other is None else (one - other).constant
    return None if apart is None else number(_COMPARED[e.op](apart, 0))
