"""Conditions without branches: `&` and `|`, where both operands can always be computed.

A branch inside a loop keeps the compiler from doing several iterations at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import inside
from porter.ir.rebuild import map_exprs
from porter.ir.walk import rewrite, walk

_BITS = {"and": "band", "or": "bor"}
#: what is as quick as a branch
_QUICK = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "isnan", "isinf", "isfinite",
          "add", "sub", "mul", "neg", "abs"}  # fmt: skip


def branchless(
    body: Sequence[ir.Stmt], axes: Sequence[ir.Axis], buffers: Mapping[str, ir.Buffer]
) -> tuple[ir.Stmt, ...]:
    """Statements with the operands of `and` and `or` computed whatever the first one is."""
    return tuple(_statement(s, tuple(axes), buffers) for s in body)


def _statement(s: ir.Stmt, axes: tuple[ir.Axis, ...], buffers: Mapping[str, ir.Buffer]) -> ir.Stmt:
    if isinstance(s, ir.For) and s.step > 0:
        return replace(s, body=branchless(s.body, (*axes, ir.Axis(s.index, s.hi, s.lo)), buffers))
    if isinstance(s, ir.Stage):
        return replace(s, body=branchless(s.body, (*axes, *s.axes), buffers))
    own = (*axes, *s.axes) if isinstance(s, ir.Write) else axes
    return map_exprs(s, _change(own, buffers))


def without_branches(
    r: ir.Reduce, axes: Sequence[ir.Axis], buffers: Mapping[str, ir.Buffer]
) -> ir.Reduce:
    """The same for what is folded over axes of its own."""
    return replace(r, body=rewrite(r.body, _change((*axes, *r.axes), buffers)))


def _change(
    axes: tuple[ir.Axis, ...], buffers: Mapping[str, ir.Buffer]
) -> Callable[[ir.Expr], ir.Expr | None]:
    def change(e: ir.Expr) -> ir.Expr | None:
        match e:
            case ir.Op("and" | "or" as op, (left, right), dtype):
                if dtype.kind == "b" and _is_sure(right, axes, buffers):
                    both = rewrite(left, change), rewrite(right, change)
                    return ir.Op(_BITS[op], both, dtype)
            case ir.Reduce():
                return without_branches(e, axes, buffers)
        return None

    return change


def _is_sure(e: ir.Expr, axes: Sequence[ir.Axis], buffers: Mapping[str, ir.Buffer]) -> bool:
    """Whether an expression can be computed for all indices of the axes, and quickly."""
    for x in walk(e):
        match x:
            case ir.Op(op=op) if op in _QUICK:
                continue
            case ir.Load(buffer=name, index=index) if inside(index, axes, buffers[name]):
                continue
            case ir.Const() | ir.Scalar() | ir.Local() | ir.Cast():
                continue
        return False
    return True
