"""Loops that look for the first element of a kind, then leave."""

from __future__ import annotations

from dataclasses import replace

from porter.analyses.accesses import exposed_locals
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.context import Context, map_exprs, rename_axes
from porter.ir.nodes import (
    Axis,
    Const,
    Expr,
    For,
    If,
    Jump,
    Let,
    Load,
    Local,
    Op,
    Reduce,
    Return,
    Select,
    Stmt,
    Value,
)
from porter.ir.walk import walk
from porter.sizes.polynomial import Data, Poly, maximum, sym


def search(loop: For, after: set[str], context: Context) -> list[Stmt] | None:
    """`for i: if c(i): ...; break` as the smallest i with c(i), found in parallel."""
    test = _test(loop, after)
    if test is None:
        return None
    first = context.fresh("first")
    end = maximum(loop.hi, loop.lo)
    i, stop = Value(sym(loop.index, True), INT64), Value(end, INT64)
    inside = Op("lt", (i, Value(loop.hi, INT64)), BOOL)
    here = Op("and", (inside, test.cond), BOOL)
    place = Select(here, i, stop, INT64)
    # one place more than the loop has, so that there is always one: the end
    found = Reduce("min", (Axis(loop.index, end + 1, loop.lo),), place, INT64)
    body = tuple(_at(s, loop.index, first) for s in test.body)
    if isinstance(body[-1], Jump):
        body = body[:-1]
    where = Local(first, INT64)
    then = If(Op("lt", (where, stop), BOOL), body, (), test.origin)
    return [Let(first, found, loop.origin), then]


def _test(loop: For, after: set[str]) -> If | None:
    """The only statement of the loop beside variables that it needs, which are put in place."""
    last = loop.body[-1] if loop.body else None
    if loop.step != 1 or not isinstance(last, If) or last.orelse or not last.body:
        return None
    if not isinstance(last.body[-1], (Jump, Return)):
        return None
    if isinstance(last.body[-1], Jump) and last.body[-1].kind != "break":
        return None
    values: dict[str, Expr] = {}

    def change(e: Expr) -> Expr | None:
        return values.get(e.name) if isinstance(e, Local) else None

    for s in loop.body[:-1]:
        if not isinstance(s, Let) or s.name in exposed_locals(loop.body) | after:
            return None
        changed = map_exprs(s, change)
        assert isinstance(changed, Let)
        values[s.name] = changed.value
    if not all(isinstance(s, (Let, Jump, Return)) for s in last.body):
        return None
    assigned = {s.name for s in last.body if isinstance(s, Let)}
    test = map_exprs(last, change)
    assert isinstance(test, If)
    if any(isinstance(e, Local) and e.name in assigned for e in walk(test.cond)):
        return None
    body = tuple(map_exprs(s, change) for s in last.body)
    reads = [p for e in walk(test.cond) if isinstance(e, Load) for p in e.index]
    # an index that is out of bounds behind the first match is never reached in Python
    if any(isinstance(a, Data) for p in reads for a in p.atoms()):
        return None
    return replace(test, body=body)


def _at(s: Stmt, index: str, first: str) -> Stmt:
    """A statement with the place that was found for the loop's index."""

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Value) or index not in e.poly.names() or e.dtype.name != "int64":
            return None
        rest = e.poly.replace({index: Poly()})
        if e.poly.coefficient(index) != 1 or rest.constant is None:
            return None
        place = Local(first, e.dtype)
        if not rest.constant:
            return place
        return Op("add", (place, Const(rest.constant, e.dtype)), e.dtype)

    return rename_axes(
        map_exprs(s, change), {index: Poly.atom(Data(Local(first, INT64), nonneg=True))}
    )
