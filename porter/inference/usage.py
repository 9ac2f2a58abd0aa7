"""What a parameter must be, judged from how the function uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import libcst as cst

from porter.dtypes.signatures import GENERATORS
from porter.inference.evidence import EDGES, IMAGE, STATE, Usage, generator_with, is_step, settle
from porter.inference.ranks import adds_axes
from porter.inference.roles import Roles, flattens
from porter.numpy_functions import Rank, spec_of
from porter.resolve.attributes import parameters_of
from porter.resolve.definitions import all_compiled
from porter.resolve.globals import globals_of
from porter.resolve.reducers import folded_by
from porter.resolve.values import Module
from porter.source.module import FunctionSource, SourceModule
from porter.source.walk import walk
from porter.support.reserved import given
from porter.syntax.dataflow import elements_of, has_number
from porter.syntax.forms import (
    axis_ndim,
    called,
    has_product,
    is_math,
    is_np,
    is_size,
    is_whole,
    type_of_default,
    unturned,
)
from porter.syntax.names import used_names

_ARRAY_ATTRIBUTES = {"shape", "size", "ndim", "dtype", "T", "copy", "astype", "reshape", "ravel",
                     "flatten", "sum", "mean", "std", "var", "max", "min", "any", "all", "dot",
                     "transpose", "argmax", "argmin", "prod", "real", "imag", "conj", "fill",
                     "clip", "swapaxes", "squeeze", "ptp", "round", "trace"}  # fmt: skip
_ARRAY_KEYWORDS = {"weights", "out", "where"}
_BITS = {"BitAnd", "BitOr", "BitXor", "LeftShift", "RightShift"}


#: the nodes that say something of the names in them
_TELLING = (cst.Subscript, cst.Attribute, cst.BinaryOperation, cst.UnaryOperation, cst.Call,
            cst.Assign, cst.AugAssign, cst.For, cst.CompFor, cst.If, cst.While)  # fmt: skip
#: what the functions of a file do with their parameters, by name and the helpers they may call
_usages: WeakKeyDictionary[SourceModule, dict[tuple[str, frozenset[str]], list[Usage]]] = (
    WeakKeyDictionary()
)


class _Visitor(Roles):
    def __init__(
        self, function: FunctionSource, uses: dict[str, Usage], helpers: dict[str, FunctionSource]
    ) -> None:
        super().__init__(uses, function.node.body)
        self.own, self.module = function.name, function.module
        self.helpers = helpers

    def states(self) -> None:
        """`c_next = f * c + i * g`: a parameter has the dimensions of its own next state."""
        for name in self.locals:
            use = self.uses.get(STATE.sub("", name) if STATE.search(name) else name[4:])
            if use is not None and (STATE.search(name) or name.startswith("new_")):
                if not (use.numbers.is_number or use.numbers.is_integer) and use.default is None:
                    rank = self.ranks.of(cst.Name(name))
                    use.ndim, use.arrays.seen = max(use.ndim, rank), use.arrays.seen or rank > 0

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
                case cst.UnaryOperation():
                    self.visit_UnaryOperation(node)
                case cst.Call():
                    self.visit_Call(node)
                case cst.Assign():
                    self.visit_Assign(node)
                case cst.AugAssign():
                    self.visit_AugAssign(node)
                case cst.For() | cst.CompFor():
                    self.visit_For(node)
                case cst.If(test=test) | cst.While(test=test):
                    self._compared(test)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        owner = self.use(node.value)
        consumed = 0
        self._pairs(node)
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
            picture = dots and isinstance(node.value, cst.Name) and IMAGE.search(node.value.value)
            owner.array(max(consumed + dots + bool(picture), 1))
            owner.arrays.has_axes |= not all(
                map(is_whole, node.slice)
            )  # `out[:] = ...` is elementwise
        elif isinstance(node.value, cst.Name):
            self.ranks.demand(node.value, consumed)
        self._shape_axis(node)

    def _shape_axis(self, node: cst.Subscript) -> None:
        """`x.shape[k]` needs k + 1 dimensions."""
        if not (isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"):
            return
        owner = self.use(node.value.value)
        index = node.slice[0].slice
        if owner is not None and isinstance(index, cst.Index):
            if isinstance(index.value, cst.Integer):
                owner.axes(int(index.value.value) + 1)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        owner = self.use(node.value)
        if owner is None and isinstance(node.value, cst.Name) and _reduces(node.attr.value):
            self.ranks.demand(node.value, 1)
        if owner is not None and node.attr.value in _ARRAY_ATTRIBUTES:
            turned = node.attr.value == "T" and not owner.arrays.is_vector
            owner.axes(2 if turned or flattens(node.attr.value) else 1)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        use = self.use(node.expression) if isinstance(node.operator, cst.BitInvert) else None
        if use is not None:
            use.numbers.is_inverted = True

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        if isinstance(node.operator, cst.MatrixMultiply):
            for side in map(unturned, (node.left, node.right)):
                use = self.use(side)
                if use is not None:
                    use.arrays.seen = use.arrays.in_product = True
                if isinstance(side, cst.BinaryOperation) and isinstance(side.right, cst.Name):
                    use = self.use(side.right)
                    if use is not None:
                        use.arrays.seen = use.arrays.in_product = True
            self._vector(node.left, node.right)
            self._stacks(node.left, node.right)
        if isinstance(node.operator, (cst.Add, cst.Subtract)):
            self._beside_product(node.left, node.right)
            self._beside_product(node.right, node.left)
        self._lined_up(node.left, node.right)
        if type(node.operator).__name__ in _BITS:
            for side, other in ((node.left, node.right), (node.right, node.left)):
                # `~x & 0xFF` has integers, `~x & y` as likely truth values
                if isinstance(side, cst.UnaryOperation) and isinstance(other, cst.Integer):
                    side = side.expression
                self._bits(side)

    def _lined_up(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        """`x[:, None] - c[None]`: sides that both get axes have equally many then."""
        if not (adds_axes(left) and adds_axes(right)):
            return
        ranks = [self.ranks.of(left), self.ranks.of(right)]
        low = left if ranks[0] < ranks[1] else right
        if isinstance(low, cst.Subscript):
            self.ranks.demand(low.value, max(ranks) - adds_axes(low))

    def _dot(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        """`np.dot(x, W)` where the names say that there is a matrix."""
        sides = [unturned(left), unturned(right)]
        if any(isinstance(s, cst.Name) and s.value[0].isupper() for s in sides):
            for side in sides:
                use = self.use(side)
                if use is not None:
                    use.arrays.seen = use.arrays.in_product = True
            self._vector(left, right)

    def _vector(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        """`A @ x` as it is written on paper: capital letters are matrices, small ones vectors."""
        use = self.use(right)
        if use is None or not isinstance(right, cst.Name):
            return
        left = left.expression if isinstance(left, cst.UnaryOperation) else left
        if isinstance(left, cst.Name):
            use.arrays.is_vector |= left.value[0].isupper() and right.value[0].islower()
        elif isinstance(left, cst.BinaryOperation):
            use.arrays.is_vector |= unturned(left.left).deep_equals(right)  # `w.T @ C @ w`

    def _stacks(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        """`q @ k.transpose(0, 1, 3, 2)`, and what the product is multiplied with."""
        for one, other in ((left, right), (right, left)):
            use, axes = self.use(one), self.ranks.of(other)
            if isinstance(other, cst.Call) and called(other.func) == "transpose":
                axes = len(other.args)
            weights = isinstance(one, cst.Name) and one.value[0] in "Ww"
            if use is not None and axes > 2 and not weights:
                use.array(axes)

    def _beside_product(self, side: cst.BaseExpression, other: cst.BaseExpression) -> None:
        """`b - A @ x` and `x @ w + b`: what is added to a product is an array as well."""
        use = self.use(side)
        if use is not None and has_product(other):
            use.array()

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """A parameter that is changed in place is an array."""
        if type(node.operator).__name__.removesuffix("Assign") in _BITS:
            self._bits(node.target)
            self._bits(node.value)
        use = self.use(node.target)
        if use is not None and _is_step_of(node.target, node.value):
            use.numbers.is_number = True  # `t += dt`
        elif use is not None and use.default is None:
            use.arrays.seen = True
        self.ranks.demand(node.target, self.ranks.of(node.value))

    def visit_For(self, node: cst.For | cst.CompFor) -> None:
        use = self.use(node.iter)
        if use is not None:
            use.array()
            if isinstance(node.iter, cst.Name) and isinstance(node.target, cst.Name):
                name = node.iter.value
                self.elements[node.target.value] = self.derived.get(name, name)
        if isinstance(node.iter, cst.Subscript) and isinstance(node.target, cst.Name):
            return
        self._iterated(node.iter)
        self.elements |= {v: a for v, a in elements_of(node.target, node.iter) if a in self.uses}

    def _iterated(self, call: cst.BaseExpression) -> None:
        """`enumerate(x)`, `zip(x, y)`, `enumerate(zip(x, y))`: all of them arrays."""
        if isinstance(call, cst.Call) and called(call.func) in ("enumerate", "zip"):
            for a in call.args:
                use = self.use(a.value)
                if use is not None:
                    use.array()
                self._iterated(a.value)

    def visit_Assign(self, node: cst.Assign) -> None:
        """`n, m = x.shape` and `y = x` / `x = np.asarray(x)`."""
        target = node.targets[0].target
        if isinstance(target, cst.Subscript):
            if any(isinstance(e.slice, cst.Slice) for e in target.slice) and not self.first_look:
                self._mark(node.value, 0)
        if isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
            use = self.use(node.value.value)
            if isinstance(target, cst.Tuple):
                self.ranks.demand(node.value.value, len(target.elements))
            if use is not None and isinstance(target, cst.Tuple):
                use.axes(len(target.elements))
        owner = self.use(node.value)
        if owner is not None and isinstance(target, cst.Tuple):
            owner.axes()
        if isinstance(node.value, cst.Call) and called(node.value.func) == "gradient":
            if isinstance(target, cst.Tuple) and node.value.args:  # one result for each axis
                self.ranks.demand(node.value.args[0].value, len(target.elements))
        if isinstance(target, cst.Name) and isinstance(node.value, cst.Name):
            if node.value.value in self.uses and target.value not in self.uses:
                self.derived[target.value] = node.value.value
        use = self.use(target)
        if (
            use is not None
            and isinstance(node.value, cst.BinaryOperation)
            and not use.numbers.is_scalar
        ):
            use.arrays.seen |= self._has_array(node.value)  # `v = v - k * x` changes v to an array
        source = node.value.value if isinstance(node.value, cst.Subscript) else None
        if isinstance(source, cst.Name) and source.value in self.uses:
            parts = (
                [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
            )
            self.sliced |= {t.value: source.value for t in parts if isinstance(t, cst.Name)}

    def visit_Call(self, node: cst.Call) -> None:
        name = called(node.func)
        folds = isinstance(node.func, cst.Name) or name == "reduce"
        array = folded_by(globals_of(self.module), node) if folds else None
        if array is not None:
            use = self.use(array)
            if use is not None:
                use.array()
            return
        if isinstance(node.func, cst.Name) and name in self.helpers:
            self._helper(node, self.helpers[name])
            return
        if name in ("dot", "matmul") and len(node.args) == 2:
            self._dot(node.args[0].value, node.args[1].value)
        axis = next((a.value for a in node.args if a.keyword and a.keyword.value == "axis"), None)
        if name == "roll" and axis is None and len(node.args) == 3:
            axis = node.args[2].value
        for position, a in enumerate(node.args):
            keyword = a.keyword.value if a.keyword else ""
            if not self._number_argument(node.func, position, keyword, a.value):
                self._argument(node, position, keyword, a.value, axis)
        if isinstance(node.func, cst.Attribute):
            self._method(node.func.value, name, node.args, axis)
        self._draws(node, name)

    def _number_argument(
        self, func: cst.BaseExpression, position: int, keyword: str, value: cst.BaseExpression
    ) -> bool:
        """Whether an argument is a size or a number, which it is then noted as."""
        name = called(func)
        reshaped = name == "reshape" and not keyword and (position or not is_np(func))
        if is_size(name, position, keyword) or _counts_bins(name, position, keyword, value):
            self._sizes(value)
        elif spec_of(name).numbers or is_math(func):
            self._scalar(value)
        elif name == "range":
            self._integer(value)
        elif name == "gradient" and position and not keyword:
            self._scalar(value)  # how far points are apart
        elif reshaped:
            self._sizes(value)
        else:
            return self._drawn_below(name, position, value)
        return True

    def _drawn_below(self, name: str, position: int, value: cst.BaseExpression) -> bool:
        """Whether `rng.choice(n)` is of an integer: one that is a size elsewhere is no array."""
        use = self.use(value) if name in ("choice", "permutation") and not position else None
        return use is not None and (self.first_look or use.numbers.is_integer)

    def _argument(
        self,
        node: cst.Call,
        position: int,
        keyword: str,
        value: cst.BaseExpression,
        axis: cst.BaseExpression | None,
    ) -> None:
        """What a call says of an argument that may be an array."""
        name, is_numpy = called(node.func), isinstance(node.func, cst.Attribute)
        spec = spec_of(name)
        first = is_numpy and position == 0
        if position == spec.positions and not keyword:
            self._positions(value)
        if name in ("min", "max") and not is_numpy and len(node.args) > 1:
            self._number(value)
        if name == "array" and position == 0 and has_number(value):
            self._matrix(value)
        if first and spec.axes == 1:
            self._rows(value)
            if axis is not None:
                self.ranks.demand(value, axis_ndim(axis))
        use = self.use(value)
        if use is not None and use.default is not None and _reduces(name):
            return  # the axis in `x.sum(axis)`
        if is_numpy and not keyword and not is_math(node.func):
            self._operands(value)
        if use is not None and is_numpy and keyword in _ARRAY_KEYWORDS:
            use.array()
        if use is None or keyword:
            return
        if name == "len":
            use.axes()
        elif first and spec.axes:
            use.array(spec.axes if spec.axes > 1 else axis_ndim(axis))
        elif first and is_step(value):
            use.numbers.is_scalar = True
        elif first and not is_math(node.func) and use.default is None:
            use.array()  # a ufunc takes numbers too: what has one as its default stays one

    def _method(
        self,
        owner: cst.BaseExpression,
        name: str,
        args: Sequence[cst.Arg],
        axis: cst.BaseExpression | None,
    ) -> None:
        """What the call of a method says of the array."""
        use = self.use(owner)
        if use is not None and name == "transpose" and len(args) > 1:
            use.array(len(args))
        if not _reduces(name):
            return
        self._rows(owner)
        first = axis or next((a.value for a in args if a.keyword is None), None)
        if use is None and first is not None:
            self.ranks.demand(owner, axis_ndim(first))
        if isinstance(owner, (cst.BinaryOperation, cst.Call)):
            self._operands(owner, axis_ndim(axis))
        if use is not None:
            use.array(axis_ndim(first))

    def _draws(self, node: cst.Call, name: str) -> None:
        """`rng.normal()`, and `default_rng(rng)`."""
        owner = self.use(node.func.value) if isinstance(node.func, cst.Attribute) else None
        if owner is not None:
            owner.generator = generator_with(name, owner.generator)
        first = self.use(node.args[0].value) if node.args else None
        if first is not None and name == "default_rng":
            first.seeds = True

    def _helper(self, node: cst.Call, helper: FunctionSource) -> None:
        """What a helper of the file does with its parameters holds for the arguments."""
        if helper.name == self.own or not any(used_names(a.value) & self.uses.keys()
                                              for a in node.args):  # fmt: skip
            return
        for argument, known in zip(node.args, self._inner(helper), strict=False):
            use = self.use(argument.value)
            if argument.keyword is not None:
                continue
            if use is None:
                self.ranks.demand(argument.value, known.ndim or 0)
                continue
            use.numbers.is_integer |= known.numbers.is_integer
            use.numbers.is_index |= known.numbers.is_index
            use.numbers.is_scalar |= known.numbers.is_scalar
            use.numbers.has_bits |= known.numbers.has_bits
            use.numbers.is_inverted |= known.numbers.is_inverted
            use.arrays.is_mask |= known.arrays.is_mask
            use.generator = use.generator or known.generator
            if known.ndim:
                use.array(known.ndim)

    def _inner(self, helper: FunctionSource) -> list[Usage]:
        """What a helper does with its parameters, judged once for the calls that lead to it."""
        rest = {n: f for n, f in self.helpers.items() if n not in (helper.name, self.own)}
        usages = _usages.setdefault(helper.module, {})
        key = (helper.name, frozenset(rest))
        known = usages.get(key)
        if known is None:
            known = usages[key] = list(usage_of(helper, rest).values())
        return known


def _counts_bins(name: str, position: int, keyword: str, value: cst.BaseExpression) -> bool:
    """Whether `bins` of a histogram is a number, which only a name of edges speaks against."""
    bins = keyword == "bins" or (not keyword and position == 1)
    named = isinstance(value, cst.Name) and EDGES.search(value.value)
    return name in ("histogram", "histogram_bin_edges") and bins and not named


def _is_step_of(target: cst.BaseExpression, value: cst.BaseExpression) -> bool:
    """Whether a name is that of the steps of another one: `dt` of `t`."""
    if not (isinstance(target, cst.Name) and isinstance(value, cst.Name)):
        return False
    return is_step(value) and value.value == f"d{target.value}"


def _reduces(name: str) -> bool:
    return spec_of(name).rank is Rank.REDUCED


def usage_of(
    function: FunctionSource, helpers: dict[str, FunctionSource] | None = None
) -> dict[str, Usage]:
    """Evidence for every parameter of a function; helpers of the file are looked into."""
    if helpers is None:
        named = function.module.by_name
        compiled = all_compiled(globals_of(function.module))
        helpers = named | {given(n): named[given(of)] for n, of in compiled.items()}
    params = parameters_of(function)
    uses = {q.name.value: Usage(default=type_of_default(q.default)) for q in params}
    visitor = _Visitor(function, uses, helpers)
    telling = [n for n in walk(function.node.body) if isinstance(n, _TELLING)]
    for first_look in (True, False, False):
        visitor.first_look = first_look
        visitor.visit(telling)
    visitor.states()
    settle(uses, function.name)
    # a name that is ours, too, may have got another one meanwhile
    own = list(uses.values())[: len(params)] if "numpy" in function.module.whole else ()
    for q, use in zip(params, own, strict=False):
        use.generator = _hinted_generator(function.module, q.annotation) or use.generator
    return uses


def _hinted_generator(module: SourceModule, hint: cst.Annotation | None) -> str:
    """NumPy's class of random generators that a hint names: `rng: np.random.Generator | None`."""
    if hint is None:
        return ""
    scope = globals_of(module)
    for node in walk(hint.annotation):
        if not isinstance(node, (cst.Name, cst.Attribute)):
            continue
        root, _, path = module.code(node).partition(".")
        known, origin = scope.names.get(root), scope.origins.get(root)
        full = known.name if isinstance(known, Module) else ""
        if origin is not None and not full:
            full = f"{origin.module}.{origin.name}"
        owner, _, name = (f"{full}.{path}" if path else full).rpartition(".")
        if owner == "numpy.random" and name in GENERATORS:
            return name
    return ""
