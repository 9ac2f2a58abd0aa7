"""Steps of two values that weigh each other: `y[i]` from `y[i - 1]` and `y[i - 2]`, or two states.

Such a step is a matrix and what is added, and two of them, one after the other, are again one.
Old values may stand in any sum, product or quotient with what does not depend on them: where such
a product is infinite, or no number, the schedule runs the steps of the source in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porter import ir
from porter.analyses.scans import neutral
from porter.dtypes.dtype import DType
from porter.ir.scalars import cast, number
from porter.ir.walk import walk


def has_kernels(dtype: DType) -> bool:
    """Whether kernels compose steps of a dtype: integers of 64 bits, or floats of 32 or 64.

    Of floats the factors are compared with numbers, and narrower numbers are computed with in
    wider ones.
    """
    return not dtype.weak and dtype.itemsize >= {"i": 8, "f": 4}.get(dtype.kind, 99)


@dataclass(frozen=True)
class Row:
    """What one of the values becomes: what the old ones are multiplied with, and what is added."""

    weights: tuple[ir.Expr | None, ...]
    body: ir.Expr

    @staticmethod
    def of(place: int, dtype: DType) -> Row:
        """That of a value that becomes an old one as it is."""
        one = cast(number(1), dtype)
        return Row(tuple(one if k == place else None for k in range(2)), _nothing(dtype))

    def filled(self, dtype: DType) -> list[ir.Expr]:
        """The weights, 0 for an old value that it does not take in."""
        return [w or cast(number(0), dtype) for w in self.weights]


@dataclass(frozen=True)
class Pair:
    """The rows of both values, and their steps as the source has them."""

    rows: tuple[Row, Row]
    steps: tuple[ir.Expr, ir.Expr]

    @property
    def parts(self) -> tuple[ir.Expr, ...]:
        """What is multiplied with, and what is added."""
        return tuple(e for r in self.rows for e in (*r.weights, r.body) if e is not None)

    @property
    def nodes(self) -> Iterator[ir.Expr]:
        """All that these consist of."""
        return (x for e in self.parts for x in walk(e))

    def changed(self, change: Callable[[ir.Expr], ir.Expr]) -> Pair:
        """The same with all that it consists of changed."""
        one, other = (
            Row(tuple(None if w is None else change(w) for w in r.weights), change(r.body))
            for r in self.rows
        )
        return Pair((one, other), (change(self.steps[0]), change(self.steps[1])))

    @property
    def turned(self) -> Pair:
        """The same with the second value in place of the first one."""
        one, other = (Row(r.weights[::-1], r.body) for r in self.rows)
        return Pair((other, one), self.steps[::-1])

    @property
    def is_coupled(self) -> bool:
        """Whether one of the values takes in the other one."""
        return any(r.weights[1 - k] is not None for k, r in enumerate(self.rows))


def row(step: ir.Expr, olds: Sequence[ir.Expr]) -> Row | None:
    """The step of a value as a row; None if it is not linear in the old ones, or has none."""
    found = _split(step, olds) if has_kernels(step.dtype) else None
    if found is None or not any(found[0]):
        return None
    weights, body = found
    every = [x for e in (*weights, body) if e is not None for x in walk(e)]
    if any(isinstance(x, ir.Reduce) for x in every):
        return None
    return Row(tuple(weights), _nothing(step.dtype) if body is None else body)


def pair_of(steps: Sequence[ir.Expr], olds: Sequence[ir.Expr]) -> Pair | None:
    """The steps of two variables that an iteration carries to the next one.

    None if one is not linear in their old values, or if they do not weigh each other.
    """
    first, second = (row(step, olds) for step in steps)
    if first is None or second is None or olds[0].dtype != olds[1].dtype:
        return None
    pair = Pair((first, second), (steps[0], steps[1]))
    return pair if pair.is_coupled else None


def _nothing(dtype: DType) -> ir.Expr:
    return ir.Const(neutral("sum", dtype), dtype)


#: the weight of each old value, and what is added, where there is any
_Parts = tuple[list[ir.Expr | None], ir.Expr | None]


def _split(e: ir.Expr, olds: Sequence[ir.Expr]) -> _Parts | None:
    """The parts of an expression; None if an old value stands in it otherwise."""
    if e in olds:
        return [cast(number(1), e.dtype) if e == old else None for old in olds], None
    if _is_free(e, olds):
        return [None for _ in olds], e
    match e:
        case ir.Op("neg", (arg,)):
            return _each(_split(arg, olds), negative)
        case ir.Op("mul", (left, right)) if _is_free(left, olds):
            return _each(_split(right, olds), lambda x: _product(left, x, e.dtype))
        case ir.Op("mul" | "truediv" as op, (left, right)) if _is_free(right, olds):
            return _each(_split(left, olds), lambda x: _product(x, right, e.dtype, op))
        case ir.Op("add" | "sub", (left, right)):
            first, second = _split(left, olds), _split(right, olds)
            if first is None or second is None:
                return None
            weights = [total(e, a, b) for a, b in zip(first[0], second[0], strict=True)]
            return weights, total(e, first[1], second[1])
    return None


def _is_free(e: ir.Expr, olds: Sequence[ir.Expr]) -> bool:
    return all(x not in olds for x in walk(e))


def _each(parts: _Parts | None, change: Callable[[ir.Expr], ir.Expr]) -> _Parts | None:
    """All parts changed that there are."""
    if parts is None:
        return None
    *weights, body = (None if e is None else change(e) for e in (*parts[0], parts[1]))
    return weights, body


def _product(left: ir.Expr, right: ir.Expr, dtype: DType, op: str = "mul") -> ir.Expr:
    """The product, or quotient; one times something is that."""
    one = cast(number(1), dtype)
    if op == "mul" and one in (left, right):
        return right if left == one else left
    return ir.Op(op, (left, right), dtype)


def negative(e: ir.Expr) -> ir.Expr:
    """Minus the expression."""
    return e.args[0] if isinstance(e, ir.Op) and e.op == "neg" else ir.Op("neg", (e,), e.dtype)


def total(e: ir.Op, left: ir.Expr | None, right: ir.Expr | None) -> ir.Expr | None:
    """The sum, or difference, of what is left of the terms of one."""
    if left is None or right is None:
        return negative(right) if right is not None and e.op == "sub" else left or right
    return ir.Op(e.op, (left, right), e.dtype)
