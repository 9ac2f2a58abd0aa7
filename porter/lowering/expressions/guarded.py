"""Values that Python computes only where a condition holds: `x[0] if len(x) else 0`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from porter import ir
from porter.ir.walk import walk
from porter.lowering.evaluation import Evaluator, Numeric
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import sym

V = TypeVar("V")
Made = list[ir.Stmt]


def guarded(ev: Evaluator, node: cst.BaseExpression, cond: ir.Expr, *, negated: bool) -> Numeric:
    """The value of an expression that is evaluated where a condition holds, or does not hold if
    it is `negated`."""
    return _guarded(ev.b, ev.env, cond, negated, lambda: (ev.numeric(node), []))[0]


def guarded_block(
    b: Builder, env: dict[str, Value], cond: ir.Expr, run: Callable[[], V], *, negated: bool
) -> tuple[V, Made]:
    """What is evaluated there, and the statements that it emits."""

    def evaluate() -> tuple[V, Made]:
        with b.out.block() as made:
            value = run()
        return value, made

    return _guarded(b, env, cond, negated, evaluate)


def _guarded(
    b: Builder, env: dict[str, Value], cond: ir.Expr, negated: bool,
    evaluate: Callable[[], tuple[V, Made]],
) -> tuple[V, Made]:  # fmt: skip
    """A thread that chooses among elements reads no others, so the host tests indices only where
    the condition holds.  Sums and arrays are computed in any case, and so are their tests."""
    tested = b.scope.tested(cond, negated)
    if b.scope.waits:  # what is around sees what is computed
        with b.scope.only_where(tested):
            return evaluate()
    if tested:
        before = sum(map(len, b.out.blocks))
        with b.attempt(env) as undo:
            with b.scope.only_where(tested):
                value, made = evaluate()
            if not made and sum(map(len, b.out.blocks)) == before and _is_of_elements(value):
                return value, made
            undo()
    with b.scope.maybe():
        return evaluate()


def _is_of_elements(value: object) -> bool:
    """Whether all of a value is read where it is used."""
    if isinstance(value, tuple):
        return all(map(_is_of_elements, value))
    if isinstance(value, Array):
        if value.mask is not None:
            return False
        value = value.at([sym(f"at{k}", True) for k in range(value.ndim)])
    return not (isinstance(value, ir.Expr) and any(isinstance(e, ir.Reduce) for e in walk(value)))
