"""Which names inside an expression are positions, sizes, numbers or masks."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import libcst as cst

from porter.inference.evidence import SELECTION, Usage
from porter.inference.operands import Operands
from porter.numpy_functions import Rank, spec_of
from porter.source.walk import walk
from porter.syntax.dataflow import counters, expressions_of
from porter.syntax.forms import (
    called,
)

_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_PYTHON_ARITHMETIC = {"min", "max", "abs"}
_OF_NUMBERS = {"exp", "sqrt", "log", "sin", "cos", "tan", "abs", "float", "radians", "deg2rad"}


def flattens(name: str) -> bool:
    """Whether a function gives its argument in one dimension."""
    return spec_of(name).rank is Rank.FLAT


def _tests_as_given(body: cst.CSTNode) -> dict[cst.BaseExpression, set[str]]:
    """The tests of a function's own `if` statements, and what is bound before each."""
    found: dict[cst.BaseExpression, set[str]] = {}
    bound: set[str] = set()
    for s in body.body if isinstance(body, cst.IndentedBlock) else ():
        branch: cst.CSTNode | None = s
        while isinstance(branch, cst.If):
            found[branch.test] = set(bound)
            branch = branch.orelse
        bound |= expressions_of(s).keys()
    return found


class Roles(Operands):
    """Notes what subscripts, sizes and comparisons say of the parameters in them."""

    def __init__(self, uses: dict[str, Usage], body: cst.CSTNode) -> None:
        given = expressions_of(body)
        super().__init__(uses, given, counters(body))
        self.rebound = given.keys() & uses.keys()
        self.as_given = _tests_as_given(body)
        self.looked_at: set[tuple[str, str]] = set()
        self.sliced: dict[str, str] = {}
        self.elements: dict[str, str] = {}  # the variable of `for v in x`: the array x
        self.ranks.elements = self.elements

    def _pairs(self, node: cst.Subscript) -> None:
        """`p[np.arange(n), t]`: the positions t are as many as the rows."""
        indices = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
        if any(isinstance(v, cst.Call) and called(v.func) == "arange" for v in indices):
            for v in indices:
                self._positions(v)

    def _index(self, value: cst.BaseExpression) -> None:
        match value:
            case cst.Name(value=name):
                use = self.use(value)
                if use is not None and SELECTION.search(name):
                    self._selects(value)
                elif use is not None:
                    use.numbers.is_index = use.numbers.is_integer = True
                for known in (self.sliced, self.elements):
                    if name in known:
                        self.uses[known[name]].numbers.is_index = True
                for e in self._assigned(name, "index"):
                    self._index(e)
            case cst.Call(func=cst.Name(value=name), args=args) if name in _PYTHON_ARITHMETIC:
                for a in args:
                    self._index(a.value)
            case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
                self._selects(inner)
            case cst.BinaryOperation(left=left, operator=cst.BitAnd() | cst.BitOr(), right=right):
                self._selects(left)
                self._selects(right)
            case cst.BinaryOperation(left=left, right=right):
                self._index(left)
                self._index(right)
            case cst.Subscript(value=cst.Name() as inner):
                use = self.use(inner)
                if use is not None:
                    use.numbers.is_index = True
                    use.array()

    def _assigned(self, name: str, purpose: str) -> list[cst.BaseExpression]:
        """What a local name is given, for each purpose once."""
        if (name, purpose) in self.looked_at:
            return []
        self.looked_at.add((name, purpose))
        return self.locals.get(name, [])

    def _compared(self, test: cst.BaseExpression, whole: cst.BaseExpression | None = None) -> None:
        """What an `if` compares are numbers: the truth value of an array is ambiguous."""
        whole = whole or test
        match test:
            case cst.BooleanOperation(left=left, right=right):
                self._compared(left, whole)
                self._compared(right, whole)
            case cst.Comparison(left=left, comparisons=rest):
                if all(isinstance(c.operator, _ORDERS) for c in rest):
                    for e in (left, *(c.comparator for c in rest)):
                        self._number(e, self.rebound & self.as_given.get(whole, self.rebound))

    def _number(self, value: cst.BaseExpression, rebound: AbstractSet[str] | None = None) -> None:
        """The names that arithmetic makes a number of are numbers, but for those that are bound
        to something else."""
        rebound = self.rebound if rebound is None else rebound
        match value:
            case cst.Name(value=name):
                use = self.uses.get(name)
                if use is not None and name not in rebound:
                    use.numbers.is_number = True
                for e in self._assigned(name, "number"):
                    self._number(e, rebound)
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                if not isinstance(operator, cst.MatrixMultiply):
                    self._number(left, rebound)
                    self._number(right, rebound)
            case cst.UnaryOperation(expression=inner):
                self._number(inner, rebound)
            case cst.Call(func=func, args=args) if called(func) in _OF_NUMBERS:
                for a in args:
                    self._number(a.value, rebound)

    def _selects(self, value: cst.BaseExpression) -> None:
        """A subscript that can only be a boolean mask, by its operator or by its name."""
        use = self.use(value)
        if use is not None:
            use.arrays.is_mask = True
            use.array()
        elif isinstance(value, cst.UnaryOperation):
            self._selects(value.expression)

    def _integer(self, value: cst.BaseExpression | None) -> None:
        match value:
            case cst.Name():
                use = self.use(value)
                if use is not None:
                    use.numbers.is_integer = True
                for e in self._assigned(value.value, "integer"):
                    self._integer(e)
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                if not isinstance(operator, cst.Divide):
                    self._integer(left)
                    self._integer(right)
            case cst.UnaryOperation(expression=inner):
                self._integer(inner)
            case cst.Tuple(elements=elements):
                for item in elements:
                    self._integer(item.value)
            case cst.Call(func=cst.Name(value=name), args=args) if name in _PYTHON_ARITHMETIC:
                for a in args:
                    self._integer(a.value)
            case cst.Subscript(value=cst.Name() as inner):
                use = self.use(inner)
                if use is not None:
                    use.numbers.is_index = True
                    use.array()

    def _bits(self, side: cst.BaseExpression) -> None:
        """An operand of a bit operation, or the array that it is an element of."""
        if isinstance(side, cst.Subscript):
            side = side.value
        use = self.use(side)
        if use is None and isinstance(side, cst.Name):
            use = self.uses.get(self.elements.get(side.value, ""))
            for e in self._assigned(side.value, "bits"):
                if isinstance(e, cst.Call) and e.args:  # `np.pad(b, 1)`
                    self._bits(e.args[0].value)
        if use is not None:
            use.numbers.has_bits = True

    def _rows(self, value: cst.BaseExpression) -> None:
        """What is summed is an array: of `d = p[i] - p[j]` and `sum(d * d)`, p has rows."""
        match value:
            case cst.Name(value=name):
                for e in self._assigned(name, "rows"):
                    self._rows(e)
            case cst.BinaryOperation(left=left, right=right):
                self._rows(left)
                self._rows(right)
            case cst.Comparison(left=left, comparisons=[one]):
                self._rows(left)
                self._rows(one.comparator)
            case cst.Subscript(value=array, slice=[cst.SubscriptElement(slice=cst.Index())]):
                use = self.use(array)
                if use is not None and not self._selecting(value):
                    use.array(2)

    def _selecting(self, value: cst.Subscript) -> bool:
        """Whether a subscript may be an array or a mask: then the result has its dimensions."""
        index = value.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(index.value, cst.Name):
            return index.value.value not in self.counters
        return True

    def _positions(self, value: cst.BaseExpression) -> None:
        if isinstance(value, cst.Call) and flattens(called(value.func)):
            assert isinstance(value.func, cst.Attribute)
            value = value.func.value
        use = self.use(value.value if isinstance(value, cst.Subscript) else value)
        if use is not None:
            use.numbers.is_index = True
            use.array()

    def _matrix(self, value: cst.BaseExpression) -> None:
        """The elements of `np.array([[c, -s], [s, c]])`."""
        if isinstance(value, (cst.List, cst.Tuple)):
            for e in value.elements:
                self._matrix(e.value)
        else:
            self._number(value)

    def _sizes(self, value: cst.BaseExpression) -> None:
        for name in (n for n in walk(value) if isinstance(n, cst.Name)):
            use = self.use(name)
            if use is not None and not use.arrays.seen:
                use.numbers.is_size = True
        if isinstance(value, (cst.Tuple, cst.List)):
            for e in value.elements:
                self._integer(e.value)
        else:
            self._integer(value)
