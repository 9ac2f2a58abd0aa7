"""Expressions, as CuPy has them."""

from __future__ import annotations

import builtins

import libcst as cst

from porter.convert.cupy.calls import Calls
from porter.convert.cupy.places import (
    ARRAY,
    HOST,
    NUMBER,
    on_device,
)
from porter.source.walk import children


class Expressions(Calls):
    """Marks expressions; raises Refusal where CuPy has no equal."""

    # -- expressions -----------------------------------------------------------------------

    def expression(self, node: cst.BaseExpression) -> None:
        """An expression and everything in it."""
        if self._named(node):
            return
        if isinstance(node, cst.Name):
            self._check_known(node)
        match node:
            case cst.Lambda() | cst.NamedExpr() | cst.Await() | cst.Yield():
                raise self._unknown(node)
            case cst.BaseComp() | cst.BaseSet() | cst.BaseDict() | cst.FormattedString():
                self._on_host(node)
            case cst.Call():
                self._call(node)
            case cst.Subscript():
                self.expression(node.value)
                self._index(node)
            case cst.Comparison():
                self._comparison(node)
            case cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()) | cst.IfExp():
                self._choice(node)
            case _:
                self._parts(node)

    def _choice(self, node: cst.BaseExpression) -> None:
        """What asks whether a value is true."""
        match node:
            case cst.BooleanOperation(left=left, right=right):
                for side in (left, right):
                    self._operand(side)
            case cst.UnaryOperation(expression=inner):
                self._test(inner)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                self._test(test)
                pair = self.places.of(body), self.places.of(orelse)
                for side, where in zip((body, orelse), pair, strict=True):
                    self.expression(side)
                    if where is NUMBER and HOST in pair:
                        self._read(side, "scalar")

    def _parts(self, node: cst.BaseExpression) -> None:
        """The expressions right below one."""
        if isinstance(node, cst.Attribute) and on_device(self.places.of(node.value)):
            self._lacks(node, f"ndarray.{node.attr.value}")
        if isinstance(node, cst.Attribute):
            self.expression(node.value)
            return
        for part in children(node):
            if isinstance(part, cst.BaseExpression):
                self.expression(part)
            elif isinstance(part, (cst.Element, cst.StarredElement)):
                self.expression(part.value)

    def _check_known(self, node: cst.Name) -> None:
        """Refuse a name of the module level that the module will not have."""
        name, places = node.value, self.places
        if name in places.names or name in places.constants or hasattr(builtins, name):
            return
        if any(isinstance(r, int) and r > 0 for r in places.seen.ranks(node)):
            raise places.refuse(
                node,
                "PRT806",
                f"the module-level array `{name}` is NumPy's",
                f"pass `{name}` as a parameter",
            )
        raise places.refuse(
            node,
            "PRT806",
            f"`{name}` is no number that the module can have",
            f"pass `{name}` as a parameter",
        )

    def _on_host(self, whole: cst.BaseExpression) -> None:
        """What may stand for numbers of the host alone, the shapes of arrays among them."""
        stack: list[cst.CSTNode] = [whole]
        while stack:
            inner = stack.pop()
            if isinstance(inner, cst.Attribute) and self._tells(inner):
                continue
            if isinstance(inner, cst.Name) and on_device(self.places.names.get(inner.value, HOST)):
                raise self.places.refuse(
                    whole,
                    "PRT806",
                    f"`{self.module.brief(whole)}` works with single parts of an array",
                    "use array operations, or a loop",
                )
            if isinstance(inner, (cst.Name, cst.Attribute)) and self._named(inner, "np"):
                continue
            stack += children(inner)

    def _tells(self, node: cst.Attribute) -> bool:
        """Whether an attribute says something of an array: its shape, its dtype."""
        return on_device(self.places.of(node.value)) and self.places.of(node) is HOST

    def _operand(self, node: cst.BaseExpression) -> None:
        self.expression(node)
        where = self.places.of(node)
        if where is NUMBER:
            self._read(node, "scalar")
        elif on_device(where):
            raise self.places.refuse(node, "PRT806", "the truth value of an array is ambiguous")

    def _comparison(self, node: cst.Comparison) -> None:
        sides = [node.left, *(c.comparator for c in node.comparisons)]
        operators = [c.operator for c in node.comparisons]
        places = [self.places.of(s) for s in sides]
        if any(isinstance(p, tuple) for p in places) and on_device(tuple(places)):
            raise self.places.refuse(
                node,
                "PRT806",
                "compares an array with a list, which CuPy does not",
                "make an array of the list: `np.array(...)`",
            )
        if any(isinstance(o, (cst.In, cst.NotIn)) for o in operators) and on_device(tuple(places)):
            raise self.places.refuse(
                node, "PRT806", "looks for an element with `in`", "use `(x == v).any()`"
            )
        for side in sides:
            if len(operators) > 1:
                self._operand(side)
            else:
                self.expression(side)

    def _index(self, node: cst.Subscript) -> None:
        """The index of an array: numbers of the device are read back."""
        for e in node.slice:
            for part in (p for p in children(e.slice) if isinstance(p, cst.BaseExpression)):
                self.expression(part)
                where = self.places.of(part)
                dtype = self.places.seen.dtype(part)
                if where is NUMBER and (dtype is None or dtype.kind not in "iu"):
                    raise self._unknown(node)
                if where is NUMBER:
                    self._read(part, "int")
                elif where is ARRAY:
                    self._positions(part)
                elif on_device(where):
                    raise self._unknown(node)

    def _positions(self, node: cst.BaseExpression) -> None:
        dtype = self.places.seen.dtype(node)
        if dtype is None or dtype.kind != "b":
            self._note("positions out of bounds wrap around, where NumPy raises IndexError", node)
