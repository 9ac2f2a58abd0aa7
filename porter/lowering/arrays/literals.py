"""Elements of arrays of literals are numbers as long as nothing is stored into the arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from porter import ir
from porter.dtypes.dtype import strengthen
from porter.ir.effects import defs
from porter.ir.scalars import cast, constant_of, poly_of
from porter.ir.walk import statements, substitute, walk
from porter.lowering.state.builder import Builder

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def element(b: Builder, e: ir.Expr) -> ir.Expr:
    """What a constant position of an array of literals holds, any other expression as it is."""
    if not b.restarts.reads_literals or not isinstance(e, ir.Load) or not e.index:
        return e
    if any(p.constant is None for p in e.index):
        return e
    made = b.out.definition(e.buffer)
    if made is None:
        return e
    names = {a.name: p for a, p in zip(made.axes, e.index, strict=True)}
    found = _chosen(substitute(made.body, names))
    if found is None or not is_literal(found):
        return e
    b.restarts.literals.add(e.buffer)
    return cast(found, strengthen(e.dtype))


def values(b: Builder, e: ir.Expr) -> set[int]:
    """The integers that an element of an array of literals may be; empty for any other one."""
    made = b.out.definition(e.buffer) if isinstance(e, ir.Load) and e.index else None
    leaves, pending = set[int](), [e if made is None else made.body]
    while pending:
        match pending.pop():
            case ir.Select(then=then, other=other):
                pending += [then, other]
            case ir.Const(value=int(value)):
                leaves.add(value)
            case _:
                return set()
    if isinstance(e, ir.Load) and leaves:
        if not b.restarts.reads_literals:
            return set()
        b.restarts.literals.add(e.buffer)
    return leaves


def are_stored(b: Builder) -> bool:
    """Whether something may have changed an array whose elements were read as literals."""
    changed = {
        name
        for s in statements(b.out.statements)
        if not isinstance(s, (ir.Def, ir.Alloc))
        for name in defs(s).arrays
    }
    named = {other for name in changed for other in b.aliases.may_be(name)}
    return not b.restarts.literals.isdisjoint(changed | named)


def _chosen(e: ir.Expr) -> ir.Expr | None:
    """The alternative that conditions on constants select; None where one is not known."""
    while isinstance(e, ir.Select):
        match e.cond:
            case ir.Op(op=op, args=(left, right)) if op in _COMPARE:
                one, other = constant_of(left), constant_of(right)
                if one is None or other is None:
                    return None
                e = e.then if _COMPARE[op](one, other) else e.other
            case _:
                return None
    return e


def stays(value: ir.Expr, every: bool) -> bool:
    """Whether a name in a loop may stand for its value: an integer of Python's, or, where the
    loop around it is unrolled, `every` literal."""
    if every and is_literal(value):
        return True
    whole = poly_of(value) is not None and value.dtype.weak
    return whole and isinstance(value, (ir.Const, ir.Value))


def is_literal(e: ir.Expr) -> bool:
    """Whether an expression is made of numbers alone: `4 / 9`."""
    return all(isinstance(x, (ir.Const, ir.Op, ir.Cast)) or constant_of(x) is not None
               for x in walk(e))  # fmt: skip
