"""Which names inside an expression are taken as arrays, and which as numbers."""

from __future__ import annotations

import libcst as cst

from porter.inference.evidence import ARRAYS, Usage, is_step
from porter.inference.ranks import Ranks
from porter.syntax.dataflow import Expressions
from porter.syntax.forms import called, is_math


class Operands:
    """Marks the parameters that NumPy functions and stores combine."""

    def __init__(self, uses: dict[str, Usage], given: Expressions, counters: set[str]) -> None:
        self.uses = uses
        self.locals = {n: e for n, e in given.items() if n not in uses}
        self.counters = counters
        self.ranks = Ranks(uses, given, counters)
        self.first_look = True
        self.derived: dict[str, str] = {}

    def use(self, node: cst.CSTNode) -> Usage | None:
        """The evidence about a parameter, or the one that a local name stands for."""
        if isinstance(node, cst.Name):
            return self.uses.get(self.derived.get(node.value, node.value))
        return None

    def _scalar(self, value: cst.BaseExpression, sure: bool = True) -> None:
        use = self.use(value)
        plural = isinstance(value, cst.Name) and ARRAYS.search(value.value) is not None
        if use is not None and (sure or not plural):
            use.numbers.is_scalar = True

    def _operands(self, value: cst.BaseExpression, ndim: int = 0) -> None:
        if self.first_look:
            return  # what is certain comes first
        loops = any(u.arrays.has_axes or u.numbers.is_size for u in self.uses.values())
        sums = isinstance(value, (cst.BinaryOperation, cst.UnaryOperation))
        if loops and sums and not self._has_array(value):
            return  # `np.exp(-r * t)` beside arrays that are indexed: numbers
        self._mark(value, ndim)

    def _mark(self, value: cst.BaseExpression, ndim: int) -> None:
        """Names combined inside the argument of a NumPy function are taken as arrays."""
        match value:
            case cst.Name():
                use = self.use(value)
                if use is not None and is_step(value):
                    use.numbers.is_scalar = True
                elif use is not None and use.default is None:
                    use.arrays.seen = True
                    use.ndim = max(use.ndim, ndim)
            case cst.BinaryOperation(left=left, right=right, operator=operator):
                if isinstance(operator, (cst.Multiply, cst.Divide)):
                    self._factors(left, right, ndim)
                    return
                self._terms(left, ndim, right)
                if not isinstance(operator, cst.Power):
                    self._terms(right, ndim, left)
            case cst.Comparison(left=left):
                self._mark(left, ndim)
            case cst.Call(func=cst.Attribute() as func, args=args) if not is_math(func):
                for a in args if ndim else ():
                    self._mark(a.value, ndim)
            case cst.UnaryOperation(expression=inner):
                self._mark(inner, ndim)

    def _terms(self, side: cst.BaseExpression, ndim: int, other: cst.BaseExpression) -> None:
        """A term of a sum: beside what is computed from arrays, an unknown name is a number."""
        if isinstance(other, cst.Call) and called(other.func) in ("astype", "copy"):
            other = other.func.value if isinstance(other.func, cst.Attribute) else other
        computed = not isinstance(other, cst.Name) or self.use(other) is None
        if isinstance(side, cst.Name) and computed and self.ranks.of(other) > 0 and not ndim:
            return
        self._mark(side, ndim)

    def _factors(self, left: cst.BaseExpression, right: cst.BaseExpression, ndim: int) -> None:
        """Beside an array (or an expression) an unknown name is more likely a number."""
        known = [self._has_array(side) for side in (left, right)]
        if known.count(True) == 1:
            self._scalar(right if known[0] else left, sure=False)
            self._mark(left if known[0] else right, ndim)
            return
        loose = [self.use(_unsigned(side)) is not None for side in (left, right)]
        if loose.count(True) == 1:
            self._mark(right if loose[0] else left, ndim)
            return
        for side in (left, right):
            self._mark(side, ndim)

    def _has_array(self, value: cst.BaseExpression) -> bool:
        """Whether an expression has elements of arrays, or what is known to be one, in it."""
        if isinstance(value, cst.Subscript):
            return True
        use = self.use(value)
        if isinstance(value, cst.Name) and use is None:
            given = self.locals.get(value.value, [])
            return self.ranks.of(value) > 0 or any(isinstance(e, cst.Subscript) for e in given)
        return (
            bool(use and (use.ndim or use.arrays.in_product))
            or self.ranks.of(value) > 0
            or any(self._has_array(c) for c in value.children if isinstance(c, cst.BaseExpression))
        )


def _unsigned(value: cst.BaseExpression) -> cst.BaseExpression:
    return value.expression if isinstance(value, cst.UnaryOperation) else value
