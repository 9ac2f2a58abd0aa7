"""Steps of a variable that are folds: sums, products, extremes and truth values of terms."""

from __future__ import annotations

import math
from dataclasses import dataclass

from porter import ir
from porter.ir.scalars import cast, number
from porter.ir.walk import walk
from porter.transforms.loops.folds import extreme, ordered

#: what can be scanned: an operation and its fold
FOLDS = {"add": "sum", "mul": "prod", "maximum": "max", "minimum": "min", "or": "any",
         "and": "all"}  # fmt: skip


@dataclass(frozen=True)
class Folded:
    """`op(old, term)`, or the old value as it is where there is no term."""

    op: str
    term: ir.Expr | None

    @property
    def fold(self) -> str:
        """The reduction of the operation."""
        return FOLDS[self.op]


def folded(step: ir.Expr, old: ir.Local) -> Folded | None:
    """A step as the fold of a term without the old value; None if it is none."""
    if step == old:
        return Folded("", None)
    match step:
        case ir.Op(op, (left, right)) if op in FOLDS and old in (left, right):
            term = right if left == old else left
            return Folded(op, term) if _is_free(term, old) else None
        case ir.Select(cond, then, other) if _is_free(cond, old):
            return _either(cond, folded(then, old), folded(other, old), step)
        case ir.Select(cond, then, other) if other == old and _is_free(then, old):
            return _running_extreme(cond, then, old)
    return None


def simplified(step: ir.Expr, old: ir.Local) -> ir.Expr:
    """A step without a test that makes no difference: `if x != v: v = x` is `v = x`."""
    match step:
        case ir.Select(ir.Op("ne", (left, right)), then, other) if other == old:
            if {left, right} == {then, old} and old.dtype.kind in "iub":
                return then
    return step


def _is_free(e: ir.Expr, old: ir.Expr) -> bool:
    return all(x != old for x in walk(e))


def _either(
    cond: ir.Expr, one: Folded | None, other: Folded | None, step: ir.Expr
) -> Folded | None:
    """The fold of one term or the other; of none, it is what changes nothing."""
    if one is None or other is None or (one.op and other.op and one.op != other.op):
        return None
    op = one.op or other.op
    terms = [x.term if x.term is not None else _ignored(op, step) for x in (one, other)]
    if terms[0] is None or terms[1] is None:
        return None
    then, otherwise = (cast(t, step.dtype) for t in terms if t is not None)
    return Folded(op, ir.Select(cond, then, otherwise, step.dtype))


def _ignored(op: str, step: ir.Expr) -> ir.Expr | None:
    """What an operation ignores; extremes of integers have none."""
    if op in ("maximum", "minimum"):
        infinity = -math.inf if op == "maximum" else math.inf
        return ir.Const(infinity, step.dtype) if step.dtype.kind == "f" else None
    return cast(number(int(op in ("mul", "and"))), step.dtype)


def _running_extreme(cond: ir.Expr, value: ir.Expr, old: ir.Local) -> Folded | None:
    """`if x > v: v = x`, also where something else holds as well."""
    op = extreme(old.name, cond, value)
    if op is not None:
        return Folded(op, ordered(op, value)) if value.dtype.kind in "fiub" else None
    match cond:
        case ir.Op("and", (left, right)):
            for test, rest in ((left, right), (right, left)):
                found = _running_extreme(rest, value, old) if _is_free(test, old) else None
                if found is not None:
                    return _either(test, found, Folded(found.op, None), old)
    return None
