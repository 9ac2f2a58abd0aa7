"""Expressions: from libcst nodes to symbolic values."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import brief
from porter.dtypes.dtype import BOOL, FLOAT64, WEAK_BOOL, DType
from porter.ir.ops import BINARY, COMPARE
from porter.ir.scalars import (
    DTypeError,
    cast,
    constant_of,
    number,
    operate,
    poly_of,
    truth,
)
from porter.lowering.arrays import calculus, subscripts
from porter.lowering.arrays.compaction import fetched, known_whole, whole
from porter.lowering.constants import alternative, computed, reading, text_of
from porter.lowering.draws import before_call
from porter.lowering.evaluation import Evaluator, Numeric, is_expr
from porter.lowering.expressions.calls import call
from porter.lowering.expressions.comprehension import is_repetition, listed
from porter.lowering.expressions.equality import (
    contained,
    dtype_attribute,
    equal,
    identical,
    is_static,
)
from porter.lowering.expressions.guarded import boolean, conditional
from porter.lowering.expressions.methods import attribute
from porter.lowering.expressions.numba_types import inferred, matched
from porter.lowering.expressions.stencils import from_element
from porter.lowering.expressions.tables import table, table_item
from porter.lowering.expressions.texts import said
from porter.lowering.functions.joining import stack
from porter.lowering.functions.subscripted import subscripted
from porter.lowering.library import matrix_product
from porter.numpy_functions import converted
from porter.resolve.definitions import compiled, unsettled
from porter.resolve.globals import member
from porter.resolve.project import function_in, imported_from, module_named
from porter.resolve.values import (
    ELLIPSIS,
    NONE,
    Array,
    DTypeName,
    Function,
    Generator,
    Listed,
    Method,
    Module,
    ProjectFile,
    Record,
    Relative,
    Slice,
    Table,
    Text,
    Unsettled,
    Value,
    known_truth,
)
from porter.sizes.polynomial import Poly
from porter.source.walk import children, walk
from porter.support.parsing import literal_value, string_value
from porter.syntax.names import used_names

#: a module-level array of at most this many elements is written into the kernels
MAX_CONSTANTS = 32
_WORDS: dict[str, Value] = {"True": number(True), "False": number(False), "None": NONE}


#: builtins that libraries have functions of the same name for
REPLACED = {"sum", "any", "all", "min", "max", "abs", "round", "pow", "divmod", "sorted"}


class ExpressionEvaluator(Evaluator):
    """Evaluates each expression by its form."""

    def __call__(self, node: cst.BaseExpression) -> Value:
        """The value of an expression. Raises Refusal where porter has no meaning for it."""
        outer, self.b.place.node = self.b.place.node, node
        try:
            return self.b.seen(node, self._evaluate(node))
        except DTypeError as error:
            raise self.b.refuse("PRT907", str(error)) from None
        except ZeroDivisionError:
            raise self.b.refuse("PRT903", "an array size is divided by zero") from None
        finally:
            self.b.place.node = outer

    def numeric(self, node: cst.BaseExpression) -> Numeric:
        """The value of an expression that must be a number or an array."""
        value = self(node)
        return self.as_numeric(value, node)

    def tested(self, node: cst.BaseExpression) -> Numeric:
        """What an `if` asks of an expression: a text, a tuple and None are true or not."""
        if isinstance(node, cst.BooleanOperation):
            value = self.b.seen(node, boolean(self, node, asked=True))
        else:
            value = self(node)
        known = known_truth(value)
        return self.as_numeric(value, node) if known is None else number(known)

    def as_numeric(self, value: Value, node: cst.CSTNode) -> Numeric:
        """A value as a number or an array; a list of numbers is an array."""
        if isinstance(value, Array) or is_expr(value):
            return inferred(self.b, value) if self.typed else value
        if isinstance(value, tuple):
            if not value:
                return Array((Poly(),), FLOAT64, lambda _: ir.Const(0.0, FLOAT64))
            parts = [self.as_numeric(v, node) for v in value]
            return self._stack([whole(self.b, v) if isinstance(v, Array) else v for v in parts])
        self.b.place.node = node
        text = self.b.place.module.brief(node)
        raise self.b.refuse("PRT902", f"`{text}` is not a number or an array",
                            "use only numbers and arrays here")  # fmt: skip

    def _stack(self, rows: Sequence[Numeric]) -> Array:
        """`np.array([a, b, ...])` of scalars or arrays: a choice by the first index."""
        return stack(self.b, list(rows), 0)

    def _evaluate(self, node: cst.BaseExpression) -> Value:
        made = said(node, self.env)
        if made is not None:
            return made
        match node:
            case cst.Name(value=name):
                return self._name(name)
            case cst.Integer() | cst.Float() | cst.Imaginary():
                return number(literal_value(node.value))
            case cst.SimpleString() | cst.ConcatenatedString():
                text = string_value(node)
                return Text(text if isinstance(text, str) else repr(text))
            case cst.Ellipsis():
                return ELLIPSIS
            case cst.Tuple(elements=items) | cst.List(elements=items):
                values = (v for e in items for v in self._listed(e))
                return Listed(values) if isinstance(node, cst.List) else tuple(values)
            case cst.ListComp() | cst.GeneratorExp():
                self._check_late(node)
                return listed(self, node)
            case cst.Attribute(value=owner, attr=attr):
                return self._attribute(self(owner), attr.value)
            case cst.UnaryOperation():
                return self.b.host.made(self._unary(node))
            case cst.BinaryOperation():
                return self.b.host.made(self._binary(node))
            case cst.BooleanOperation():
                return boolean(self, node, asked=False)
            case cst.Comparison():
                return self._comparison(node)
            case cst.IfExp():
                return conditional(self, node)
            case cst.Subscript():
                return self._subscript(node)
            case cst.Lambda():
                return Function("lambda", node, self.env, self.scope)
            case cst.Call():
                return call(self, node)
        kind = type(node).__name__
        raise self.b.refuse("PRT902", f"{_PLAIN.get(kind, kind)} cannot be converted")

    def _check_late(self, node: cst.ListComp | cst.GeneratorExp) -> None:
        """Refuse functions of a comprehension's variable: all of them see its last value."""
        inside = [n for n in walk(node.elt) if isinstance(n, cst.Lambda)]
        targets = [n.target for n in walk(node.for_in) if isinstance(n, cst.CompFor)]
        bound = {name for target in targets for name in used_names(target)}
        if any(used_names(n.body) & bound for n in inside):
            raise self.b.refuse("PRT902", "the `lambda` uses the comprehension's variable",
                                "pass the value to it as a parameter")  # fmt: skip

    def _listed(self, element: cst.BaseElement) -> tuple[Value, ...]:
        """An item of a tuple or list; `*shape` stands for several."""
        value = self(element.value)
        if not isinstance(element, cst.StarredElement):
            return (value,)
        if not isinstance(value, tuple):
            raise self.b.refuse("PRT902", "only a tuple can be unpacked here", "write it out")
        return value

    # -- names -----------------------------------------------------------------------

    def _name(self, name: str) -> Value:
        if name in self.env:
            value = self.env[name]
            if isinstance(value, Unsettled):
                raise self.b.refuse("PRT908", f"`{name}` {value.why}",
                                    "use a separate variable for each type")  # fmt: skip
            return known_whole(self.b, value) if isinstance(value, Array) else value
        if name in self.b.host.attributes:
            return self.b.host.attributes[name]
        if name in _WORDS:
            return _WORDS[name]
        name = compiled(self.scope, name) or name
        if name in self.scope.constants:
            return self._constant(name)
        if name in self.scope.names:
            return self._imported(name)
        if name in REPLACED and self.scope.stars:
            text = f"`{name}` may come from `from {self.scope.stars[0]} import *`"
            raise self.b.refuse("PRT902", text, "import the names explicitly instead of `*`")
        if hasattr(builtins, name):
            return Function(f"builtins.{name}")
        raise self.b.refuse("PRT903", f"`{name}` is not defined here", "pass it as a parameter")

    def _imported(self, name: str) -> Value:
        """A name of the file's own, of a library, or of another file of the project."""
        chosen = alternative(self.b, self.scope, name)
        if chosen is not None:
            return self.within(chosen.scope, {})(chosen.node)
        lines = unsettled(self.scope, name)
        if lines is not None:
            text = f"`{name}` is bound at lines {lines[0]} and {lines[1]}, and either may apply"
            raise self.b.refuse("PRT902", text, "use a separate name for each of them")
        known = self.scope.names[name]
        if isinstance(known, Function) and known.node is not None:
            return Function(known.name, known.node, scope=self.scope)
        found = imported_from(self.scope, name)
        if found is not None:
            scope, own = found
            function = function_in(scope, own)
            return function or self.within(scope, {})(cst.Name(own))
        module = module_named(self.scope, name)
        return known if module is None else ProjectFile(module)

    def _constant(self, name: str) -> Value:
        """A module-level constant: numbers are copied into the generated module."""
        found = reading(self.b, self.scope, name)
        inner = self.within(found.scope, {})
        if isinstance(found.node, cst.Dict):
            return table(inner, found.node)
        with before_call(self.b):
            value = computed(self.b, name, found, inner)
        if self.scope.foreign and not isinstance(value, Array):
            return value  # its name may mean something else in the user's file
        if isinstance(value, (ir.Const, ir.Op)) and not isinstance(value, Array):
            self.b.host.constants[name] = text_of(self.b, found.scope, found.node)
            self.b.out.taken.add(name)
            inner._copy_constants(found.node)
            is_float = value.dtype.kind == "f" and value.dtype.weak
            return ir.Scalar(name, value.dtype) if is_float else value
        if isinstance(value, Array) and value.ndim and not self._is_small(value):
            raise self.b.refuse("PRT902", f"the module-level array `{name}` cannot be used",
                                f"pass `{name}` as a parameter")  # fmt: skip
        return value

    @staticmethod
    def _is_small(value: Array) -> bool:
        """Whether a constant array is short enough to be written into the kernel."""
        size = 1
        for n in value.shape:
            size *= n.constant or MAX_CONSTANTS + 1
        return size <= MAX_CONSTANTS

    def _copy_constants(self, node: cst.CSTNode) -> None:
        for child in children(node):
            if isinstance(child, cst.Name) and child.value in self.scope.constants:
                self._name(child.value)
            self._copy_constants(child)

    def _attribute(self, owner: Value, attr: str) -> Value:
        if isinstance(owner, ProjectFile):
            return function_in(owner.scope, attr) or self.within(owner.scope, {})(cst.Name(attr))
        if isinstance(owner, Module):
            return member(owner.name, attr)
        if isinstance(owner, DTypeName):
            return dtype_attribute(self.b, owner, attr)
        if isinstance(owner, Record) and attr in owner.fields:
            field: Value = owner.fields[attr]
            return field
        if isinstance(owner, (Array, Relative)) or is_expr(owner):
            return attribute(self, owner.array if isinstance(owner, Relative) else owner, attr)
        if isinstance(owner, Function):
            if converted(f"{owner.name}.{attr}"):  # a method of a ufunc
                return Function(f"{owner.name}.{attr}")
        if isinstance(owner, (tuple, Text, Table, Function, Generator)):
            return Method(owner, attr)
        raise self.b.refuse("PRT902", f"the attribute `.{attr}` is not supported")

    # -- operators -------------------------------------------------------------------

    def _unary(self, node: cst.UnaryOperation) -> Value:
        is_test = isinstance(node.operator, cst.Not)
        value = self.tested(node.expression) if is_test else self.numeric(node.expression)
        match node.operator:
            case cst.Not():
                if isinstance(value, Array):
                    raise self.b.refuse("PRT902", "`not` of an array is ambiguous", "use `~`")
                return cast(operate("not", truth(value)), WEAK_BOOL)
            case cst.Minus():
                if isinstance(value, ir.Const) and not isinstance(value.value, bool):
                    return ir.Const(-value.value, value.dtype)
                return calculus.elementwise(self.b, "neg", value)
            case cst.Plus():
                return value
        if not isinstance(value, Array) and value.dtype == WEAK_BOOL:
            text = self.b.place.module.brief(node.expression)
            raise self.b.refuse("PRT902", "`~` of Python's bool: `~True` is -2, which is true",
                                f"write `not {text}`")  # fmt: skip
        return calculus.elementwise(self.b, "invert", value)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left, right = self(node.left), self(node.right)
        if isinstance(left, tuple) or isinstance(right, tuple):
            return self._tuples(node, left, right)
        x, y = self.as_numeric(left, node.left), self.as_numeric(right, node.right)
        if isinstance(node.operator, cst.MatrixMultiply):
            if not (isinstance(x, Array) and isinstance(y, Array)):
                raise self.b.refuse("PRT903", "`@` requires two arrays", "use `*` with scalars")
            return matrix_product(self, x, y)
        op = BINARY[type(node.operator).__name__]
        if op == "pow" and isinstance(x, Array) and x.dtype == BOOL and constant_of(y) == 2:
            # NumPy squares for this exponent: int8, where any other one gives int64
            x = calculus.astype(x, DType("int8"))
        x, y = matched(op, x, y) if self.typed else (x, y)
        return calculus.operator(self.b, op, x, y)

    def _tuples(self, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
        """`shape + (n,)` and `(0,) * k`: tuples (and lists) as Python joins and repeats them."""
        op = node.operator
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(op, cst.Add):
            return (*left, *right)
        if isinstance(op, cst.Multiply):
            items, times = (left, right) if isinstance(left, tuple) else (right, left)
            if isinstance(items, tuple) and isinstance(count := constant_of(times), int):
                return items * count
            if isinstance(items, tuple) and is_repetition(times):
                self.b.restarts.must_be_known(times)
                raise self.b.refuse(
                    "PRT902", "how often a list is repeated is not known at conversion",
                    "make an array: `np.full(n, value)`, or `np.tile`",
                )  # fmt: skip
        x, y = self.as_numeric(left, node.left), self.as_numeric(right, node.right)
        return calculus.operator(self.b, BINARY[type(node.operator).__name__], x, y)

    def _comparison(self, node: cst.Comparison) -> Value:
        left = self(node.left)
        result: Numeric | None = None
        for target in node.comparisons:
            right = self(target.comparator)
            term = self._compare(left, target.operator, right, node)
            result = term if result is None else calculus.elementwise(self.b, "and", result, term)
            left = right
        assert result is not None
        return result

    def _compare(
        self, left: Value, operator: cst.BaseCompOp, right: Value, node: cst.CSTNode
    ) -> Numeric:
        name = type(operator).__name__
        if name in ("Is", "IsNot"):
            same = identical(self, left, right)
            if same is None:
                raise self.b.refuse("PRT902", "`is` is supported only for None and for arguments",
                                    "compare with `==`")  # fmt: skip
            return number(same == (name == "Is"))
        if name in ("In", "NotIn") or (name in ("Equal", "NotEqual") and is_static(left, right)):
            asks = contained if name.endswith("In") else equal
            found = asks(self, left, right)
            return operate("not", found) if name.startswith("Not") else found
        if name not in COMPARE:
            raise self.b.refuse("PRT902", f"the comparison `{name}` is not supported")
        x, y = self.as_numeric(left, node), self.as_numeric(right, node)
        return calculus.elementwise(self.b, COMPARE[name], x, y)

    # -- subscripts ------------------------------------------------------------------

    def _subscript(self, node: cst.Subscript) -> Value:
        owner = self(node.value)
        if isinstance(owner, Function) and owner.name in subscripts.GRIDS:
            return subscripted(self, owner.name, node)
        if isinstance(owner, Table):
            return table_item(self, owner, node)
        items = self.items(node)
        if isinstance(owner, tuple):
            return self._pick(owner, items)
        if is_expr(owner) and not owner.dtype.weak and NONE in items:
            if all(item in (NONE, ELLIPSIS) for item in items):
                owner = calculus.as_array(owner)  # NumPy's scalars take new axes
        if isinstance(owner, Relative):
            return from_element(self, owner, items)
        if isinstance(owner, Array):
            return subscripts.index(self.b, owner, items)
        text = self.b.place.module.brief(node.value)
        raise self.b.refuse("PRT905", f"`{text}` cannot be indexed",
                            "index an array or a tuple")  # fmt: skip

    def _pick(self, owner: tuple[Any, ...], items: list[Any]) -> Value:
        item = items[0]
        if isinstance(item, Slice):
            parts = [None if p is None else p.constant for p in (item.start, item.stop, item.step)]
            return owner[slice(*parts)]
        k = constant_of(item)
        if isinstance(k, int) and -len(owner) <= k < len(owner):
            return owner[k]  # type: ignore[no-any-return]
        self.b.restarts.must_be_known(item)
        raise self.b.refuse("PRT905", "the index into a tuple must be a constant within its length",
                            "make it an array: `np.array((a, b))[k]`")  # fmt: skip

    def items(self, node: cst.Subscript) -> list[Any]:
        """The index items: slices, None, ellipsis, integers, arrays."""
        items: list[Any] = []
        for element in node.slice:
            if isinstance(element.slice, cst.Slice):
                s = element.slice
                items.append(Slice(*(self._bound(p) for p in (s.lower, s.upper, s.step))))
                continue
            assert isinstance(element.slice, cst.Index)
            value = self(element.slice.value)
            if isinstance(value, tuple) and not isinstance(value, Listed) and len(node.slice) == 1:
                items += value
            else:
                items.append(self._item(value))
        return items

    def _item(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return self._stack(
                [self.as_numeric(v, self.b.place.node or cst.Name("x")) for v in value]
            )
        return value

    def _bound(self, node: cst.BaseExpression | None) -> Poly | None:
        if node is None:
            return None
        value = self(node)
        if value is NONE:
            return None
        if self.b.scope.ranges or self.b.scope.loops or self.b.out.depth:
            return self.size(value, node)
        return self.extent(value, node)

    def extent(self, value: Value, node: cst.CSTNode) -> Poly:
        """As `size`, for the length of a new array: one that comes from data is read back."""
        if is_expr(value) and value.dtype.kind in "iu" and poly_of(value) is None:
            return fetched(self.b, value)
        return self.size(value, node)

    def size(self, value: Value, node: cst.CSTNode) -> Poly:
        """A value as an integer expression. Refuses anything else."""
        if is_expr(value):
            poly = poly_of(value)
            if poly is not None:
                return poly
            if value.dtype.kind in "iu":
                return subscripts.as_index(value)
        text = self.b.place.module.code(node)
        raise self.b.refuse("PRT903", f"`{brief(text)}` cannot be used as an index or a size",
                            "use an integer, such as an argument or `x.shape[0]`")  # fmt: skip


_PLAIN = {
    "DictComp": "a dict comprehension",
    "SetComp": "a set comprehension",
    "Dict": "a dict",
    "Set": "a set",
    "Lambda": "a lambda",
    "FormattedString": "an f-string",
    "Await": "`await`",
    "Yield": "`yield`",
    "NamedExpr": "an assignment expression",
}
