"""How many dimensions expressions have at least, and what that says of the parameters in them."""

from __future__ import annotations

import libcst as cst

from porter.inference.evidence import Usage
from porter.numpy_functions import Rank, spec_of
from porter.syntax.dataflow import Expressions, has_number
from porter.syntax.forms import called, has_product, is_math, is_none, is_np

_DEPTH = 40


class Ranks:
    """Lower bounds of the dimensions of expressions, by the evidence about the parameters."""

    def __init__(self, uses: dict[str, Usage], given: Expressions, counters: set[str]) -> None:
        self.uses = uses
        self.locals = given
        self.counters = counters
        self.elements: dict[str, str] = {}  # the variable of `for v in x`: the array x
        self.depth = 0
        self.busy: set[str] = set()

    def of(self, e: cst.BaseExpression) -> int:
        """The least number of dimensions; 0 where nothing is known."""
        if self.depth > _DEPTH:
            return 0
        self.depth += 1
        try:
            return self._of(e)
        finally:
            self.depth -= 1

    def _of(self, e: cst.BaseExpression) -> int:
        match e:
            case cst.Name(value=name):
                use = self.uses.get(name)
                if use is not None:
                    matrix = use.arrays.in_product and name[0].isupper()
                    least = 2 if matrix else int(use.arrays.seen and not use.numbers.is_scalar)
                    return max(use.ndim, least)
                return self._local(name)
            case cst.Subscript():
                return self._subscript(e)
            case cst.BinaryOperation(left=left, operator=cst.MatrixMultiply(), right=right):
                return self._product(left, right)
            case cst.BinaryOperation(left=left, right=right):
                return max(self.of(left), self.of(right))
            case cst.Comparison(left=left, comparisons=rest):
                return max(self.of(left), *(self.of(c.comparator) for c in rest))
            case cst.UnaryOperation(expression=inner):
                return self.of(inner)
            case cst.IfExp(body=body, orelse=other):
                return max(self.of(body), self.of(other))
            case cst.List(elements=elements) if elements:
                return 1 + (0 if has_number(e) else self.of(elements[0].value))
            case cst.Attribute(value=value, attr=cst.Name(value="T" | "real" | "imag")):
                return self.of(value)
            case cst.Call():
                return self._call(e)
        return 0

    def _local(self, name: str) -> int:
        if name in self.busy:
            return 0
        self.busy.add(name)
        rank = max((self.of(x) for x in self.locals.get(name, [])), default=0)
        self.busy.discard(name)
        return rank

    def _subscript(self, e: cst.Subscript) -> int:
        if isinstance(e.value, cst.Attribute) and e.value.attr.value == "shape":
            return 0
        kept = taken = added = 0
        for element in e.slice:
            index = element.slice
            if isinstance(index, cst.Slice):
                kept += 1
            elif isinstance(index, cst.Index) and is_none(index.value):
                added += 1
            elif isinstance(index, cst.Index) and not isinstance(index.value, cst.Ellipsis):
                taken += self.of(index.value) == 0
        return max(kept, self.of(e.value) - taken) + added

    def _product(self, left: cst.BaseExpression, right: cst.BaseExpression) -> int:
        a, b = self.of(left), self.of(right)
        return max(a, b) if a >= 2 and b >= 2 else max(a, b, 1) - 1

    def _call(self, e: cst.Call) -> int:
        name, func = called(e.func), e.func
        given = [a.value for a in e.args if a.keyword is None]
        method = isinstance(func, cst.Attribute) and not is_np(func) and not is_math(func)
        values = [func.value, *given] if method and isinstance(func, cst.Attribute) else given
        if not values or is_math(func) or name in ("len", "int", "float"):
            return 0
        first = values[0]
        match spec_of(name).rank:
            case Rank.REDUCED:
                return self._reduced(e, values)
            case Rank.SHAPE:
                if isinstance(first, cst.Tuple):
                    return len(first.elements)
                return self.of(first.value) if isinstance(first, cst.Attribute) else 1
            case Rank.LINE | Rank.FLAT:
                return 1
            case Rank.SQUARE:
                return 2
            case Rank.PRODUCT:
                return self._product(*values[:2]) if len(values) == 2 else 0
            case Rank.RESHAPED:
                shape = values[1:]
                inner = shape[0] if shape else None
                return len(inner.elements) if isinstance(inner, cst.Tuple) else max(len(shape), 1)
            case Rank.LIKE:
                return self.of(first)
        return self.of(first) if method else max(self.of(v) for v in values)

    def _reduced(self, e: cst.Call, values: list[cst.BaseExpression]) -> int:
        keywords = {a.keyword.value for a in e.args if a.keyword is not None}
        if "axis" not in keywords and len(values) < 2:
            return 0
        return max(self.of(values[0]) - ("keepdims" not in keywords), 0)

    def demand(self, e: cst.BaseExpression, ndim: int) -> None:
        """Note that an expression has so many dimensions: the arrays in it that give them have."""
        if self.depth > _DEPTH or ndim < 1:
            return
        self.depth += 1
        try:
            self._demand(e, ndim)
        finally:
            self.depth -= 1

    def _demand(self, e: cst.BaseExpression, ndim: int) -> None:
        match e:
            case cst.Name(value=name) if name in self.uses:
                use = self.uses[name]
                if self._is_loose(e) or use.arrays.seen:
                    use.array(ndim)
            case cst.Name(value=name) if name in self.elements:
                self.uses[self.elements[name]].array(ndim + 1)
            case cst.Name(value=name):
                given = self.locals.get(name, [])
                if len(given) == 1 or (given and self.of(given[0]) > 0):
                    self.demand(given[0], ndim)
            case cst.UnaryOperation(expression=inner) | cst.Comparison(left=inner):
                self.demand(inner, ndim)
            case cst.Subscript(value=array) if adds_axes(e):
                self.demand(array, ndim - adds_axes(e))
            case cst.Subscript(value=array, slice=[cst.SubscriptElement(slice=cst.Index(value=i))]):
                if (
                    isinstance(i, cst.Name) and self.of(i) < 2
                ):  # a mask keeps the dimensions, a number takes one
                    self.demand(array, ndim + (i.value in self.counters))
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                if isinstance(operator, cst.Power):
                    self.demand(left, ndim)
                elif isinstance(operator, cst.MatrixMultiply):
                    self._of_product(left, right, ndim)
                elif self.of(e) < ndim:
                    self._of_sides(left, right, ndim)
            case cst.Call() if (folded := self._folded(e)) is not None:
                self.demand(folded, ndim + 1)
            case cst.Call(func=func, args=args) if args and is_np(func):
                values = [a.value for a in args if a.keyword is None]
                self._of_call(called(func), values, ndim)
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="copy" | "astype"))):
                self.demand(inner, ndim)

    def _folded(self, e: cst.Call) -> cst.BaseExpression | None:
        """The array of which a call folds one axis away."""
        func, args = e.func, [a.value for a in e.args if a.keyword is None]
        if not isinstance(func, cst.Attribute) or spec_of(called(func)).rank is not Rank.REDUCED:
            return None
        args = args if is_np(func) else [func.value, *args]
        keywords = {a.keyword.value: a.value for a in e.args if a.keyword is not None}
        axis = keywords.get("axis", args[1] if len(args) > 1 else None)
        one = isinstance(axis, (cst.Integer, cst.UnaryOperation))
        return args[0] if args and one and "keepdims" not in keywords else None

    def _of_call(self, name: str, values: list[cst.BaseExpression], ndim: int) -> None:
        rank = spec_of(name).rank
        if rank is Rank.PRODUCT and len(values) == 2:
            self._of_product(values[0], values[1], ndim)
        elif rank is Rank.LIKE or (len(values) == 1 and rank is Rank.BROADCAST):
            self.demand(values[0], ndim)
        elif name in ("maximum", "minimum") and len(values) == 2:
            self._of_sides(values[0], values[1], ndim)

    def _of_product(self, left: cst.BaseExpression, right: cst.BaseExpression, ndim: int) -> None:
        """Rows come from the left factor, where the right one is a matrix."""
        if ndim == 2 and self.of(right) >= 2:
            self.demand(left, ndim)

    def _of_sides(self, left: cst.BaseExpression, right: cst.BaseExpression, ndim: int) -> None:
        """The side that is an array already, else the only one that can be."""
        if adds_axes(left) and adds_axes(right):
            self.demand(left, ndim)
            self.demand(right, ndim)
            return
        products = [has_product(left), has_product(right)]
        if products[0] != products[1]:
            self.demand(left if products[0] else right, ndim)
            return
        ranks = [self.of(left), self.of(right)]
        if ranks[0] != ranks[1]:
            self.demand(left if ranks[0] > ranks[1] else right, ndim)
            return
        loose = [self._may_be_array(left), self._may_be_array(right)]
        parts = [isinstance(s, cst.Name) and s.value in self.elements for s in (left, right)]
        if all(loose) and ranks[0] == 0 and parts.count(True) == 1:
            # `xy - q` of each q in a table: a table beside a row of it
            self.demand(right if parts[0] else left, ndim)
            self.demand(left if parts[0] else right, ndim - 1)
            return
        for side, may in zip((left, right), loose, strict=True):
            if may and (ranks[0] > 0 or loose.count(True) == 1):
                self.demand(side, ndim)

    def _may_be_array(self, e: cst.BaseExpression) -> bool:
        match e:
            case cst.Name(value=name):
                if name in self.uses:
                    return self._is_loose(e)
                if name not in self.locals:  # unpacked from a call, say
                    return name not in self.counters
                return any(self._may_be_array(x) for x in self.locals[name][:1])
            case cst.BinaryOperation(left=left, right=right):
                return self._may_be_array(left) or self._may_be_array(right)
            case cst.UnaryOperation(expression=inner):
                return self._may_be_array(inner)
            case cst.Call(func=func, args=args) if is_np(func):
                return any(self._may_be_array(a.value) for a in args)
        return False

    def _is_loose(self, e: cst.Name) -> bool:
        use = self.uses[e.value]
        return not (
            use.numbers.is_integer
            or use.numbers.is_scalar
            or use.numbers.is_number
            or use.default is not None
        )


def adds_axes(e: cst.BaseExpression) -> int:
    """How many axes a subscript adds; 0 if it takes one by a number or an array."""
    if not isinstance(e, cst.Subscript):
        return 0
    indices = [s.slice.value for s in e.slice if isinstance(s.slice, cst.Index)]
    added = [is_none(i) for i in indices if not isinstance(i, cst.Ellipsis)]
    return len(added) if all(added) else 0
