"""What computing an expression costs, in additions."""

from __future__ import annotations

from porter.ir.nodes import Cast, Const, Expr, Load, Op, Reduce, Scalar, Select, Value
from porter.ir.walk import walk

_HEAVY = {"sqrt": 4, "truediv": 4, "pow": 4, "floordiv": 4, "mod": 4}
_LIGHT = {"add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "abs",
          "band", "bor", "bxor", "maximum", "minimum", "real", "imag"}  # fmt: skip


def op_weight(op: str) -> int:
    """What one operation costs, in additions."""
    return 1 if op in _LIGHT else _HEAVY.get(op, 12)


def weight(expr: Expr) -> int:
    """What recomputing an expression costs, in additions; loads count two."""
    total = 0
    for e in walk(expr):
        match e:
            case Load():
                total += 2
            case Op(op=op):
                total += op_weight(op)
            case Select() | Cast():
                total += 1
            case Reduce():
                total += 10_000
    return total


def is_trivial(expr: Expr) -> bool:
    """Whether an expression reads no array: a constant, an index, a scalar."""
    return all(isinstance(e, (Const, Value, Scalar, Cast, Op, Select)) for e in walk(expr)) and (
        weight(expr) <= 8
    )
