"""Values that Python computes only where a condition holds: `x[0] if len(x) else 0`, `a and b`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import WEAK_BOOL
from porter.ir.scalars import constant_of, operate, truth
from porter.ir.walk import walk
from porter.lowering.arrays.calculus import either
from porter.lowering.arrays.compaction import whole
from porter.lowering.evaluation import Evaluator, Numeric
from porter.lowering.expressions.numba_types import unified
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Value, known_truth
from porter.sizes.polynomial import sym

V = TypeVar("V")
N = TypeVar("N", bound=Numeric)
Made = list[ir.Stmt]


def conditional(ev: Evaluator, node: cst.IfExp) -> Value:
    """`a if c else b`."""

    def test() -> ir.Expr:
        tested = ev.tested(node.test)
        if isinstance(tested, Array):
            raise ev.b.refuse("PRT902", "an array has no single truth value", "use `np.where`")
        return truth(tested)

    cond = counted(ev, test(), test, node.body, node.orelse)
    known = constant_of(cond)
    if known is not None:
        return ev(node.body if known else node.orelse)
    then = _value(ev, node.body, cond, negated=False)
    other = _value(ev, node.orelse, cond, negated=True)
    then, other = unified(then, other, ev.typed)
    return either(ev.b, cond, then, other, "a conditional expression")


def boolean(ev: Evaluator, node: cst.BooleanOperation, *, asked: bool) -> Value:
    """`a and b`, `a or b`; where only their truth is `asked`, of numbers too."""
    op = type(node.operator).__name__.lower()
    value = ev.tested(node.left) if asked else ev(node.left)
    static = known_truth(value)
    if static is not None:
        return value if static == (op == "or") else ev(node.right)

    def left() -> Numeric:
        return ev.as_numeric(ev.tested(node.left) if asked else ev(node.left), node.left)

    x = ev.as_numeric(value, node.left)
    x = counted(ev, x, left, node.right)
    if not isinstance(x, Array):
        x = truth(x) if asked else x
        known = constant_of(truth(x))
        if known is not None and bool(known) == (op == "or"):
            return x
        y = _value(ev, node.right, truth(x), negated=op == "or", asked=asked)
    if isinstance(x, Array) or isinstance(y, Array):
        raise ev.b.refuse("PRT902", f"`{op}` of arrays is ambiguous",
                          f"use `{'&' if op == 'and' else '|'}`")  # fmt: skip
    y = truth(y) if asked else y
    if x.dtype.kind != "b" or y.dtype.kind != "b":
        raise ev.b.refuse("PRT902", f"`{op}` of numbers returns a number, not a truth value",
                          "compare the numbers first: `x != 0`")  # fmt: skip
    made = operate(op, x, y)
    if x.dtype.weak and y.dtype.weak and isinstance(made, ir.Op):
        return ir.Op(op, (x, y), WEAK_BOOL)  # Python's own
    return made


def counted(ev: Evaluator, cond: N, test: Callable[[], N], *guarded: cst.BaseExpression) -> N:
    """A test on the number of elements that a mask selects, known to the host where the guarded
    values need them as an array: `s[0] if len(s) > 0 else 0` with `s = x[x > 0]`."""
    b = ev.b
    if isinstance(cond, Array) or not any(isinstance(e, ir.Reduce) for e in walk(cond)):
        return cond
    if not any(isinstance(v, Array) and v.lead for v in ev.env.values()):
        return cond
    needed: list[Array] = []
    with suppress(Refusal), b.attempt(ev.env) as undo:
        known = len(b.selections.compacted)
        for node in guarded:
            ev(node)
        made = [array for array, _ in b.selections.compacted[known:]]
        undo()
        needed = [a for a in made if any(a is value for value in ev.env.values())]
    for array in needed:
        whole(b, array)
    return test() if needed else cond


def _value(
    ev: Evaluator, node: cst.BaseExpression, cond: ir.Expr, *, negated: bool, asked: bool = False
) -> Numeric:
    """The value of an expression that is evaluated where a condition holds, or does not hold if
    it is `negated`."""

    def evaluate() -> tuple[Numeric, Made]:
        return ev.tested(node) if asked else ev.numeric(node), []

    return _guarded(ev.b, ev.env, cond, negated, evaluate)[0]


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
