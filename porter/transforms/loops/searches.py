"""Loops that look for the first element of a kind, then leave."""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars
from porter.ir.rebuild import map_exprs, rename_axes, variables_as
from porter.ir.walk import rewrite, scalars_of, walk
from porter.sizes.polynomial import Data, Poly, maximum, sym


def search(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """`for i: if c(i): ...; break` as the smallest i with c(i), found in parallel."""
    test = _test(loop, after)
    if test is None:
        return None
    first = context.fresh("first")
    end = maximum(loop.hi, loop.lo)
    i, stop = ir.Value(sym(loop.index, True), INT64), ir.Value(end, INT64)
    inside = ir.Op("lt", (i, ir.Value(loop.hi, INT64)), BOOL)
    here = ir.Op("and", (inside, test.cond), BOOL)
    place = ir.Select(here, i, stop, INT64)
    # one place more than the loop has, so that there is always one: the end
    found = ir.Reduce("min", (ir.Axis(loop.index, end + 1, loop.lo),), place, INT64)
    body = tuple(_at(s, loop.index, first) for s in test.body)
    if isinstance(body[-1], ir.Jump):
        body = body[:-1]
    where = ir.Local(first, INT64)
    then = ir.If(ir.Op("lt", (where, stop), BOOL), body, (), test.origin)
    return [ir.Let(first, found, loop.origin), then]


def _test(loop: ir.For, after: set[str]) -> ir.If | None:
    """The only statement of the loop beside variables that it needs, which are put in place."""
    last = loop.body[-1] if loop.body else None
    if loop.step != 1 or not isinstance(last, ir.If) or last.orelse or not last.body:
        return None
    if not isinstance(last.body[-1], (ir.Jump, ir.Return)):
        return None
    if isinstance(last.body[-1], ir.Jump) and last.body[-1].kind != "break":
        return None
    values: dict[str, ir.Expr] = {}
    change = variables_as(values)
    for s in loop.body[:-1]:
        if not isinstance(s, ir.Let) or s.name in exposed_scalars(loop.body) | after:
            return None
        values[s.name] = rewrite(s.value, change)
    if not all(isinstance(s, (ir.Let, ir.Jump, ir.Return)) for s in last.body):
        return None
    test = map_exprs(last, change)
    if scalars_of(test.cond) & defs_in(last.body).scalars:
        return None
    body = tuple(map_exprs(s, change) for s in last.body)
    reads = [p for e in walk(test.cond) if isinstance(e, ir.Load) for p in e.index]
    # an index that is out of bounds after the first match is never reached in Python
    if any(isinstance(a, Data) for p in reads for a in p.atoms()):
        return None
    return replace(test, body=body)


def _at(s: ir.Stmt, index: str, first: str) -> ir.Stmt:
    """A statement with the place that was found for the loop's index."""

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Value) or index not in e.poly.names() or e.dtype.name != "int64":
            return None
        rest = e.poly.replace({index: Poly()})
        if e.poly.coefficient(index) != 1 or rest.constant is None:
            return None
        place = ir.Local(first, e.dtype)
        if not rest.constant:
            return place
        return ir.Op("add", (place, ir.Const(rest.constant, e.dtype)), e.dtype)

    return rename_axes(
        map_exprs(s, change), {index: Poly.atom(Data(ir.Local(first, INT64), nonneg=True))}
    )
