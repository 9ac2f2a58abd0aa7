"""What a parameter must be, judged from how the function uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from porter.arrays.dtypes import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, DType
from porter.source.module import FunctionSource
from porter.source.walk import walk

_ARRAY_ATTRIBUTES = {"shape", "size", "ndim", "dtype", "T", "copy", "astype", "reshape", "ravel",
                     "flatten", "sum", "mean", "std", "var", "max", "min", "any", "all", "dot",
                     "transpose", "argmax", "argmin", "prod", "real", "imag", "conj", "fill",
                     "clip", "swapaxes", "squeeze", "ptp", "round", "trace"}  # fmt: skip
_REDUCERS = {"sum", "mean", "std", "var", "max", "min", "amax", "amin", "prod", "argmax", "argmin",
             "any", "all", "norm", "median", "ptp", "count_nonzero", "average"}  # fmt: skip
_MATRIX = {"inv", "solve", "cholesky", "eigh", "eigvalsh", "svd", "qr", "det", "pinv", "lstsq"}
_SHAPE_TAKERS = {"zeros", "ones", "empty", "full", "eye", "arange", "identity"}
_BETWEEN = {"linspace", "complex", "float", "int", "bool"}
_BITS = {"BitAnd", "BitOr", "BitXor", "LeftShift", "RightShift"}


#: the nodes that say something of the names in them
_TELLING = (cst.Subscript, cst.Attribute, cst.BinaryOperation, cst.Call, cst.Assign, cst.AugAssign,
            cst.For)  # fmt: skip


@dataclass
class Usage:
    """Evidence about one parameter; `ndim` is the least number of dimensions seen."""

    is_array: bool = False
    is_index: bool = False
    is_integer: bool = False
    in_product: bool = False
    is_vector: bool = False
    is_scalar: bool = False
    has_bits: bool = False
    is_mask: bool = False
    ndim: int = 0
    default: DType | None = None

    def array(self, ndim: int = 1) -> None:
        """Note that it is an array of at least `ndim` dimensions."""
        self.is_array = True
        self.ndim = max(self.ndim, ndim)


#: a name that says that a subscript selects
_MASK = re.compile(r"(^|_)(mask|keep|valid|alive|selected)s?$")


class _Visitor:
    def __init__(
        self, own: str, uses: dict[str, Usage], helpers: dict[str, FunctionSource]
    ) -> None:
        self.own = own
        self.uses = uses
        self.helpers = helpers
        self.first_look = True
        self.derived: dict[str, str] = {}
        self.sliced: dict[str, str] = {}
        self.elements: dict[str, str] = {}  # the variable of `for v in x`: the array x

    def visit(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Look at each node that says something of the names in it."""
        for node in nodes:
            match node:
                case cst.Subscript():
                    self.visit_Subscript(node)
                case cst.Attribute():
                    self.visit_Attribute(node)
                case cst.BinaryOperation():
                    self.visit_BinaryOperation(node)
                case cst.Call():
                    self.visit_Call(node)
                case cst.Assign():
                    self.visit_Assign(node)
                case cst.AugAssign():
                    self.visit_AugAssign(node)
                case cst.For():
                    self.visit_For(node)

    def use(self, node: cst.CSTNode) -> Usage | None:
        if isinstance(node, cst.Name):
            return self.uses.get(self.derived.get(node.value, node.value))
        return None

    def visit_Subscript(self, node: cst.Subscript) -> None:
        owner = self.use(node.value)
        consumed = 0
        for element in node.slice:
            index = element.slice
            if isinstance(index, cst.Slice):
                consumed += 1
                for part in (index.lower, index.upper, index.step):
                    self._integer(part)
                continue
            assert isinstance(index, cst.Index)
            value = index.value
            if isinstance(value, cst.Name) and value.value == "None":
                continue
            if isinstance(value, cst.Attribute) and value.attr.value == "newaxis":
                continue
            consumed += not isinstance(value, cst.Ellipsis)
            self._index(value)
        if owner is not None:
            dots = any(isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Ellipsis)
                       for e in node.slice)  # fmt: skip
            owner.array(max(consumed + dots, 1))
        self._shape_axis(node)

    def _shape_axis(self, node: cst.Subscript) -> None:
        """`x.shape[k]` needs k + 1 dimensions."""
        if not (isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"):
            return
        owner = self.use(node.value.value)
        index = node.slice[0].slice
        if owner is not None and isinstance(index, cst.Index):
            if isinstance(index.value, cst.Integer):
                owner.array(int(index.value.value) + 1)

    def _index(self, value: cst.BaseExpression) -> None:
        match value:
            case cst.Name(value=name):
                use = self.use(value)
                if use is not None and _MASK.search(name):
                    self._selects(value)
                elif use is not None:
                    use.is_index = use.is_integer = True
                if name in self.sliced:
                    self.uses[self.sliced[name]].is_index = True
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
                    use.is_index = True
                    use.array()

    def _selects(self, value: cst.BaseExpression) -> None:
        """A subscript that can only be a boolean mask, by its operator or by its name."""
        use = self.use(value)
        if use is not None:
            use.is_mask = True
            use.array()
        elif isinstance(value, cst.UnaryOperation):
            self._selects(value.expression)

    def _integer(self, value: cst.BaseExpression | None) -> None:
        match value:
            case cst.Name():
                use = self.use(value)
                if use is not None:
                    use.is_integer = True
            case cst.BinaryOperation(left=left, right=right):
                self._integer(left)
                self._integer(right)
            case cst.UnaryOperation(expression=inner):
                self._integer(inner)
            case cst.Subscript(value=cst.Name() as inner):
                use = self.use(inner)
                if use is not None:
                    use.is_index = True
                    use.array()

    def visit_Attribute(self, node: cst.Attribute) -> None:
        owner = self.use(node.value)
        if owner is not None and node.attr.value in _ARRAY_ATTRIBUTES:
            owner.array(2 if node.attr.value == "T" else 1)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        if isinstance(node.operator, cst.MatrixMultiply):
            for side in (node.left, node.right):
                use = self.use(side)
                if use is not None:
                    use.is_array = use.in_product = True
                if isinstance(side, cst.BinaryOperation) and isinstance(side.right, cst.Name):
                    use = self.use(side.right)
                    if use is not None:
                        use.is_array = use.in_product = True
            self._vector(node.left, node.right)
        if isinstance(node.operator, (cst.Add, cst.Subtract)):
            self._beside_product(node.left, node.right)
            self._beside_product(node.right, node.left)
        if type(node.operator).__name__ in _BITS:
            for side in (node.left, node.right):
                self._bits(side)

    def _vector(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        """`A @ x` as it is written on paper: capital letters are matrices, small ones vectors."""
        use = self.use(right)
        if use is not None and isinstance(left, cst.Name) and isinstance(right, cst.Name):
            use.is_vector |= left.value[0].isupper() and right.value[0].islower()

    def _beside_product(self, side: cst.BaseExpression, other: cst.BaseExpression) -> None:
        """`b - A @ x` and `x @ w + b`: what is added to a product is an array as well."""
        use = self.use(side)
        match other:
            case cst.BinaryOperation(operator=cst.MatrixMultiply()) if use is not None:
                use.array()

    def _bits(self, side: cst.BaseExpression) -> None:
        """An operand of a bit operation, or the array that it is an element of."""
        if isinstance(side, cst.Subscript):
            side = side.value
        use = self.use(side)
        if use is None and isinstance(side, cst.Name):
            use = self.uses.get(self.elements.get(side.value, ""))
        if use is not None:
            use.has_bits = True

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """A parameter that is changed in place is an array."""
        use = self.use(node.target)
        if use is not None and use.default is None:
            use.is_array = True

    def visit_For(self, node: cst.For) -> None:
        use = self.use(node.iter)
        if use is not None:
            use.array()
            if isinstance(node.iter, cst.Name) and isinstance(node.target, cst.Name):
                self.elements[node.target.value] = node.iter.value
        if isinstance(node.iter, cst.Subscript) and isinstance(node.target, cst.Name):
            return
        call = node.iter
        self._iterated(call)

    def _iterated(self, call: cst.BaseExpression) -> None:
        """`enumerate(x)`, `zip(x, y)`, `enumerate(zip(x, y))`: all of them arrays."""
        if isinstance(call, cst.Call) and _called(call.func) in ("enumerate", "zip"):
            for a in call.args:
                use = self.use(a.value)
                if use is not None:
                    use.array()
                self._iterated(a.value)

    def visit_Assign(self, node: cst.Assign) -> None:
        """`n, m = x.shape` and `y = x` / `x = np.asarray(x)`."""
        target = node.targets[0].target
        if isinstance(target, cst.Subscript):
            if any(isinstance(e.slice, cst.Slice) for e in target.slice):
                self._operands(node.value)
        if isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
            use = self.use(node.value.value)
            if use is not None and isinstance(target, cst.Tuple):
                use.array(len(target.elements))
        if isinstance(target, cst.Name) and isinstance(node.value, cst.Name):
            if node.value.value in self.uses and target.value not in self.uses:
                self.derived[target.value] = node.value.value
        source = node.value.value if isinstance(node.value, cst.Subscript) else None
        if isinstance(target, cst.Name) and isinstance(source, cst.Name):
            if source.value in self.uses:
                self.sliced[target.value] = source.value

    def visit_Call(self, node: cst.Call) -> None:
        name = _called(node.func)
        if isinstance(node.func, cst.Name) and name in self.helpers:
            self._helper(node, self.helpers[name])
            return
        is_numpy = isinstance(node.func, cst.Attribute)
        axis = next((a.value for a in node.args if a.keyword and a.keyword.value == "axis"), None)
        for position, a in enumerate(node.args):
            keyword = a.keyword.value if a.keyword else ""
            if _is_size(name, position, keyword):
                self._sizes(a.value)
                continue
            if name in _SHAPE_TAKERS or name in _BETWEEN or _is_math(node.func):
                self._scalar(a.value)
                continue
            if name == "range":
                self._integer(a.value)
                continue
            use = self.use(a.value)
            if is_numpy and not keyword and not _is_math(node.func):
                self._operands(a.value)
            if use is None or keyword:
                continue
            if name == "len":
                use.array()
            elif is_numpy and position == 0 and name in _MATRIX:
                use.array(2)
            elif is_numpy and position == 0 and name in _REDUCERS:
                use.array(_axis_ndim(axis))
            elif is_numpy and position == 0 and not _is_math(node.func) and use.default is None:
                use.array()  # a ufunc takes numbers too: what has one as its default stays one
        if isinstance(node.func, cst.Attribute):
            use = self.use(node.func.value)
            inner = node.func.value
            if isinstance(inner, (cst.BinaryOperation, cst.Call)) and name in _REDUCERS:
                self._operands(node.func.value, _axis_ndim(axis))
            if use is not None and name in _REDUCERS:
                given = [a.value for a in node.args if a.keyword is None]
                first = axis or (given[0] if given else None)
                use.array(_axis_ndim(first))

    def _helper(self, node: cst.Call, helper: FunctionSource) -> None:
        """What a helper of the file does with its parameters holds for the arguments."""
        if helper.name == self.own or all(self.use(a.value) is None for a in node.args):
            return
        for argument, known in zip(node.args, self._inner(helper), strict=False):
            use = self.use(argument.value)
            if use is None or argument.keyword is not None:
                continue
            use.is_integer |= known.is_integer
            use.is_index |= known.is_index
            use.is_scalar |= known.is_scalar
            use.has_bits |= known.has_bits
            use.is_mask |= known.is_mask
            if known.ndim:
                use.array(known.ndim)

    def _inner(self, helper: FunctionSource) -> list[Usage]:
        """What a helper does with its parameters, judged once for the calls that lead to it."""
        rest = {n: f for n, f in self.helpers.items() if n not in (helper.name, self.own)}
        key = (helper.name, frozenset(rest))
        known = helper.module.usages.get(key)
        if known is None:
            known = helper.module.usages[key] = list(usage_of(helper, rest).values())
        return known

    def _scalar(self, value: cst.BaseExpression) -> None:
        use = self.use(value)
        if use is not None:
            use.is_scalar = True

    def _operands(self, value: cst.BaseExpression, ndim: int = 0) -> None:
        if self.first_look:
            return  # what is certain comes first
        self._mark(value, ndim)

    def _mark(self, value: cst.BaseExpression, ndim: int) -> None:
        """Names combined inside the argument of a NumPy function are taken as arrays."""
        match value:
            case cst.Name():
                use = self.use(value)
                if use is not None and use.default is None:
                    use.is_array = True
                    use.ndim = max(use.ndim, ndim)
            case cst.BinaryOperation(left=left, right=right, operator=operator):
                if isinstance(operator, (cst.Multiply, cst.Divide)):
                    self._factors(left, right, ndim)
                    return
                self._operands(left, ndim)
                if not isinstance(operator, cst.Power):
                    self._operands(right, ndim)
            case cst.Comparison(left=left):
                self._operands(left, ndim)
            case cst.Call(func=cst.Attribute() as func, args=args) if not _is_math(func):
                for a in args if ndim else ():
                    self._operands(a.value, ndim)
            case cst.UnaryOperation(expression=inner):
                self._operands(inner, ndim)

    def _factors(self, left: cst.BaseExpression, right: cst.BaseExpression, ndim: int) -> None:
        """Beside an array (or an expression) an unknown name is more likely a number."""
        uses = [self.use(side) for side in (left, right)]
        loose = [u is not None and not u.is_array for u in uses]
        if loose.count(True) == 1:
            side = right if loose[0] else left
            self._operands(side, ndim)
            return
        for side in (left, right):
            self._operands(side, ndim)

    def _sizes(self, value: cst.BaseExpression) -> None:
        if isinstance(value, (cst.Tuple, cst.List)):
            for e in value.elements:
                self._integer(e.value)
        else:
            self._integer(value)


def _is_math(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and (
        isinstance(node.value, cst.Name) and node.value.value in ("math", "cmath")
    )


def _is_size(name: str, position: int, keyword: str) -> bool:
    """Whether an argument of a call is a size or shape."""
    if keyword in ("shape", "num", "N", "M"):
        return True
    if name == "linspace":
        return position == 2
    return name in _SHAPE_TAKERS and not keyword and (position == 0 or name == "arange")


def _called(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _axis_ndim(axis: cst.BaseExpression | None) -> int:
    """The number of dimensions that an `axis=` argument suggests."""
    if axis is None:
        return 1
    if isinstance(axis, cst.Integer):
        return max(int(axis.value) + 1, 2)
    if isinstance(axis, cst.Tuple):
        return max(len(axis.elements), 2)
    return 2 if isinstance(axis, cst.UnaryOperation) else 1


def _default(node: cst.BaseExpression | None) -> DType | None:
    match node:
        case cst.Integer():
            return WEAK_INT
        case cst.Float():
            return WEAK_FLOAT
        case cst.Name(value="True" | "False"):
            return WEAK_BOOL
        case cst.UnaryOperation(expression=inner):
            return _default(inner)
    return None


def usage_of(
    function: FunctionSource, helpers: dict[str, FunctionSource] | None = None
) -> dict[str, Usage]:
    """Evidence for every parameter of a function; helpers of the file are looked into."""
    if helpers is None:
        helpers = function.module.by_name
    from porter.frontend.signature import parameters_of

    params = parameters_of(function)
    uses = {q.name.value: Usage(default=_default(q.default)) for q in params}
    visitor = _Visitor(function.name, uses, helpers)
    telling = [n for n in walk(function.node.body) if isinstance(n, _TELLING)]
    for first_look in (True, False, False):
        visitor.first_look = first_look
        visitor.visit(telling)
    for use in uses.values():
        if use.in_product and not use.ndim:
            use.ndim = 1 if use.is_vector else 2
    return uses
