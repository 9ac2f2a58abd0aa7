"""What a condition says of the loops around: `if i > 0`, `if i != j`, `if i == j: continue`."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.ir.scalars import on_host, operate
from porter.lowering.state.scope import LoopScope, parts
from porter.sizes.polynomial import Poly

__all__ = ["narrow", "narrow_rest"]

_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def narrow(scope: LoopScope, cond: ir.Expr, *, negated: bool) -> None:
    """From here on the condition holds, or does not hold if it is `negated`.

    What the intervals of the loops cannot say is kept as a condition, if the host can test it.
    """
    testable = on_host(cond)
    for part, flipped in parts(cond, negated):
        if not _said(scope, part, flipped) and testable:
            scope.conditions.append(operate("not", part) if flipped else part)


def narrow_rest(scope: LoopScope, cond: ir.Expr) -> None:
    """The rest of an iteration that is left where a condition holds."""
    for part, flipped in parts(cond, True):
        _said(scope, part, flipped)


def _said(scope: LoopScope, part: ir.Expr, flipped: bool) -> bool:
    """Whether the loops around say all of a condition, narrowed as far as it goes."""
    match part:
        case ir.Op(op=op, args=(ir.Value(poly=left), ir.Value(poly=right))) if op in _NEGATED:
            op, gap = _NEGATED[op] if flipped else op, left - right
        case _:
            return False
    if not gap.names() & scope.indices:
        return False
    before = list(scope.ranges)
    scope.ranges[:] = [_cut(axis, op, gap) for axis in before]
    if op == "ne" and scope.ranges == before:
        left_over = _apart(before, gap)
        scope.apart += left_over
        return bool(left_over)
    # of one index that is equal to a number, both ends may be unknown
    return scope.ranges != before and op != "eq"


def _apart(ranges: Sequence[ir.Axis], gap: Poly) -> list[Poly]:
    """How often a loop runs for indices that differ from that of a loop as long, if `gap` is
    their difference."""
    for k, one in enumerate(ranges):
        for other in ranges[:k]:
            index, second = _symbol_in(gap, one.name), _symbol_in(gap, other.name)
            apart = gap in (index - second, second - index)
            if apart and (one.lo, one.hi) == (other.lo, other.hi):
                return [one.extent - 1]
    return []


def _cut(axis: ir.Axis, op: str, gap: Poly) -> ir.Axis:
    """Use `gap op 0`, where gap is `index - rest` or `rest - index`."""
    factor = gap.coefficient(axis.name)
    if factor not in (1, -1):
        return axis
    rest = (gap - factor * _symbol_in(gap, axis.name)) * -factor
    if factor == -1:
        op = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(op, op)
    if op == "ne":
        if rest == axis.lo:
            return ir.Axis(axis.name, axis.hi, axis.lo + 1)
        return ir.Axis(axis.name, axis.hi - 1, axis.lo) if rest == axis.hi - 1 else axis
    lo, hi = {"lt": (None, rest), "le": (None, rest + 1), "gt": (rest + 1, None),
              "ge": (rest, None), "eq": (rest, rest + 1)}[op]  # fmt: skip
    new_lo = lo if lo is not None and _tighter(lo, axis.lo) else axis.lo
    new_hi = hi if hi is not None and _tighter(axis.hi, hi) else axis.hi
    return ir.Axis(axis.name, new_hi, new_lo)


def _tighter(larger: Poly, smaller: Poly) -> bool:
    return (larger - smaller).is_nonneg()


def _symbol_in(poly: Poly, name: str) -> Poly:
    for atom in poly.atoms():
        if getattr(atom, "name", None) == name:
            return Poly.atom(atom)
    return Poly()
