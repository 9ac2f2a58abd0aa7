"""Where the values of a function are once its NumPy is CuPy: on the host or on the device.

NumPy's scalars of arrays (`x.max()`, `x[0]`) are arrays of no dimensions in CuPy. Ranks are what
the front end saw; whether a number is on the device follows from what it is computed of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Protocol

import libcst as cst

from porter.convert.cupy.seen import Rank, Seen
from porter.diagnostics import Refusal, refusal
from porter.numpy_functions import Dotted, known
from porter.resolve.globals import Globals
from porter.resolve.values import Array, DTypeName, Function, Method
from porter.source.walk import walk
from porter.syntax.names import target_names, used_names


class Place(Enum):
    """Where a value is."""

    HOST = auto()  # a number, a text, a dtype: not on the device
    NUMBER = auto()  # an array of no dimensions on the device
    ARRAY = auto()  # an array of one dimension or more on the device


Where = Place | tuple["Where", ...]
HOST, NUMBER, ARRAY = Place.HOST, Place.NUMBER, Place.ARRAY


#: functions that say something of an array and compute nothing from its elements
ABOUT = frozenset(
    f"numpy.{n}"
    for n in ("shape", "ndim", "size", "isscalar", "result_type", "promote_types", "can_cast",
              "broadcast_shapes", "finfo", "iinfo", "dtype", "issubdtype", "iscomplexobj",
              "isrealobj", "errstate", "ndindex", "shares_memory", "may_share_memory")
)  # fmt: skip
#: functions whose results are Python's bools
TESTS = frozenset({"numpy.allclose", "numpy.array_equal", "numpy.array_equiv"})
#: attributes of arrays that are arrays
_PARTS = frozenset({"T", "mT", "real", "imag"})
_MOST_ROUNDS = 12


class Helpers(Protocol):
    """Who knows the functions of the file that a function calls."""

    constants: frozenset[str]

    def result(self, places: Places, node: cst.Call, function: Function) -> Where:
        """Where the result of a helper is."""
        ...

    def named(self, places: Places, node: cst.Call, function: Function) -> str:
        """The name of a helper for the arguments of a call."""
        ...


def on_device(where: Where) -> bool:
    """Whether a value is on the device, or one in it."""
    return any(map(on_device, where)) if isinstance(where, tuple) else where is not HOST


def of_rank(rank: Rank) -> Where:
    """Where CuPy has a result of so many dimensions."""
    if isinstance(rank, tuple):
        return tuple(map(of_rank, rank))
    return HOST if rank is None else ARRAY if rank else NUMBER


def beyond(scope: Globals, node: cst.CSTNode, code: str, message: str, help: str = "") -> Refusal:
    """A refusal of this target at a node."""
    return refusal(code, message, scope.module.span(node), help)


class Places:
    """The places of the names and expressions of one function."""

    def __init__(
        self, scope: Globals, seen: Seen, body: Sequence[cst.CSTNode], given: dict[str, Where],
        helpers: Helpers,
    ) -> None:  # fmt: skip
        self.scope, self.seen, self.body, self.given = scope, seen, body, given
        self.helpers = helpers
        #: numbers of the module level that the module has
        self.constants: frozenset[str] = helpers.constants
        self.names: dict[str, Where] = {}
        #: names that are numbers of the host in one place and of the device in another
        self.fetched: set[str] = set()
        #: names that are numbers in one place and arrays in another
        self.both: set[str] = set()
        self.result: Where | None = None
        self._settle()

    def refuse(self, node: cst.CSTNode, code: str, message: str, help: str = "") -> Refusal:
        """A refusal at a node."""
        return beyond(self.scope, node, code, message, help)

    # -- names -----------------------------------------------------------------------------

    def _settle(self) -> None:
        """Bind every name until nothing changes; what is on both sides is read back."""
        for _ in range(_MOST_ROUNDS):
            before = dict(self.names), set(self.fetched)
            if not self.names:
                self.names = dict(self.given)
            for node in self.body:
                self._statement(node)
            if before[1] != self.fetched:
                self.names = {}
            elif before[0] == self.names:
                return
        raise self.refuse(
            self.body[0],
            "PRT806",
            "where its values are cannot be told",
            "use one variable for each of them",
        )

    def bind(self, name: str, where: Where) -> None:
        """A name is assigned something."""
        if name in self.fetched and where is NUMBER:
            where = HOST
        old = self.names.get(name, where)
        if {old, where} == {HOST, NUMBER}:
            self.fetched.add(name)
        if {old, where} == {ARRAY, NUMBER}:
            self.both.add(name)
        self.names[name] = self._joined(old, where)

    def _joined(self, one: Where, other: Where) -> Where:
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            return tuple(map(self._joined, one, other))
        if isinstance(one, tuple) or isinstance(other, tuple):
            return HOST if not (on_device(one) or on_device(other)) else ARRAY
        return max(one, other, key=lambda p: p.value)

    def _unpack(self, target: cst.BaseExpression, where: Where) -> None:
        match target:
            case cst.Name(value=name):
                self.bind(name, where)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                if where is ARRAY or where is NUMBER:
                    raise self.refuse(
                        target,
                        "PRT806",
                        "unpacks an array, which CuPy does row by row",
                        "name its rows: `a = x[0]`",
                    )
                each = where if isinstance(where, tuple) else (where,) * len(elements)
                if len(each) != len(elements):
                    each = (ARRAY,) * len(elements) if on_device(where) else (HOST,) * len(elements)
                for e, part in zip(elements, each, strict=True):
                    self._unpack(e.value, part)

    def _statement(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Assign(targets=targets, value=value):
                for t in targets:
                    self._unpack(t.target, self.of(value))
            case cst.AnnAssign(target=target, value=value) if value is not None:
                self._unpack(target, self.of(value))
            case cst.AugAssign(target=cst.Name(value=name), value=value):
                old, new = self.names.get(name, HOST), self.of(value)
                self.bind(name, self._joined(old, new))
            case cst.For():
                self._unpack(node.target, self.items(node.iter))
            case cst.Return(value=value):
                where = HOST if value is None else self.of(value)
                known = self.result
                self.result = where if known is None else self._joined(known, where)
        for inner in _inside(node):
            if not self.seen.dead(inner):
                self._statement(inner)

    def items(self, node: cst.BaseExpression) -> Where:
        """Where the items are that a loop runs over."""
        function = self.seen.function(node.func) if isinstance(node, cst.Call) else None
        name = "" if function is None or function.node is not None else function.name
        if isinstance(node, cst.Call) and name in ("builtins.enumerate", "builtins.zip",
                                                   "builtins.reversed"):  # fmt: skip
            each = tuple(self.items(a.value) for a in node.args if a.keyword is None)
            if name == "builtins.zip":
                return each
            return each[0] if name == "builtins.reversed" else (HOST, each[0])
        where = self.of(node)
        if isinstance(where, tuple):
            found = where[0] if where else HOST
            for other in where[1:]:
                found = self._joined(found, other)
            return found
        if where is ARRAY:
            ranks = {r - 1 for r in self.seen.ranks(node) if isinstance(r, int)}
            return self._of_ranks(node, set(ranks))
        return HOST

    # -- expressions -----------------------------------------------------------------------

    def of(self, node: cst.BaseExpression) -> Where:
        """Where the value of an expression is."""
        match node:
            case cst.Name(value=name):
                return self.names.get(name, HOST)
            case cst.Attribute(value=owner, attr=attr):
                where = self.of(owner)
                inside = on_device(where) and attr.value in _PARTS
                return self._seen(node) if inside else HOST
            case cst.Subscript(value=owner):
                return self._subscript(node, self.of(owner))
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                each = tuple(self.of(e.value) for e in elements)
                starred = any(isinstance(e, cst.StarredElement) for e in elements)
                if starred and on_device(each):
                    raise self.refuse(
                        node, "PRT806", "unpacks what is on the device", "write the items out"
                    )
                return HOST if starred else each
            case cst.UnaryOperation(operator=operator, expression=inner):
                return HOST if isinstance(operator, cst.Not) else self.of(inner)
            case cst.BinaryOperation(left=left, right=right):
                return self._operation(node, (self.of(left), self.of(right)))
            case cst.Comparison():
                return self._comparison(node)
            case cst.IfExp(body=body, orelse=orelse):
                pair = self.of(body), self.of(orelse)
                return HOST if set(pair) == {HOST, NUMBER} else self._joined(*pair)
            case cst.Call():
                return self._call(node)
        return HOST

    def _seen(self, node: cst.CSTNode) -> Where:
        """Where a result of the device is, by its rank."""
        return self._of_ranks(node, self.seen.ranks(node))

    def _of_ranks(self, node: cst.CSTNode, ranks: set[Rank]) -> Where:
        found = {of_rank(r) for r in ranks}
        if not found:
            text = self.scope.module.brief(node)
            raise self.refuse(node, "PRT806", f"what `{text}` is cannot be told")
        if len(found) > 1:
            text = self.scope.module.brief(node)
            raise self.refuse(
                node,
                "PRT806",
                f"`{text}` is a number in one call and an array in another",
                "use a helper for each of them",
            )
        return found.pop()

    def _subscript(self, node: cst.Subscript, owner: Where) -> Where:
        if isinstance(owner, tuple):
            match node.slice:
                case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=k)))]:
                    return owner[int(k)] if int(k) < len(owner) else HOST
            if on_device(owner):
                raise self.refuse(
                    node, "PRT806", "takes a part of a tuple of arrays", "name its items"
                )
            return HOST
        return self._seen(node) if owner is not HOST else HOST

    def _operation(self, node: cst.BinaryOperation, sides: tuple[Where, Where]) -> Where:
        if any(isinstance(s, tuple) for s in sides):
            if isinstance(sides[0], tuple) and isinstance(sides[1], tuple):
                return (*sides[0], *sides[1])
            if on_device(sides):
                raise self.refuse(
                    node,
                    "PRT806",
                    "computes with a list and an array, which CuPy does not",
                    "make an array of the list: `np.array(...)`",
                )
            return HOST
        return self._seen(node) if on_device(sides) else HOST

    def _comparison(self, node: cst.Comparison) -> Where:
        operators = [c.operator for c in node.comparisons]
        if len(operators) > 1 or isinstance(operators[0], (cst.Is, cst.IsNot, cst.In, cst.NotIn)):
            return HOST
        sides = self.of(node.left), self.of(node.comparisons[0].comparator)
        return self._seen(node) if on_device(sides) else HOST

    # -- calls -----------------------------------------------------------------------------

    def _call(self, node: cst.Call) -> Where:
        function = self.seen.one(node.func)
        if isinstance(function, Function) and function.node is not None:
            return self.helpers.result(self, node, function)
        if isinstance(function, DTypeName):
            return HOST
        given = tuple(self.of(a.value) for a in node.args)
        if isinstance(function, Method):
            return self._method(node, function)
        if not isinstance(function, Function):
            return HOST
        library, short = function.full.library, function.full.short
        if library in ("numpy", "scipy"):
            return self._numpy(node, function.full, given)
        if library == "builtins" and short in ("abs", "tuple", "list") and len(given) == 1:
            return given[0]
        return HOST

    def _numpy(self, node: cst.Call, name: Dotted, given: tuple[Where, ...]) -> Where:
        if name in ABOUT or name in TESTS:
            return HOST
        if on_device(given) or (known(name).creates and self._made(node)):
            return self._seen(node)
        # computed on the host, and moved where it is an array
        return ARRAY if self._made(node) else HOST

    def _made(self, node: cst.CSTNode) -> bool:
        """Whether an expression is an array of one dimension or more."""
        return any(isinstance(v, Array) and v.ndim for v in self.seen.values.get(node, ()))

    def _method(self, node: cst.Call, method: Method) -> Where:
        assert isinstance(node.func, cst.Attribute)
        if not on_device(self.of(node.func.value)) or method.name in ("item", "tolist"):
            return HOST
        return self._seen(node)

    # -- element accesses ------------------------------------------------------------------

    def is_element(self, node: cst.Subscript) -> bool:
        """Whether a subscript is one element of an array of the device, read or stored."""
        if self.of(node.value) is not ARRAY:
            return False
        values = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
        if len(values) < len(node.slice):
            return False
        count = 0
        for value in values:
            ranks = self.seen.ranks(value)
            tuples = [r for r in ranks if isinstance(r, tuple)]
            if not ranks or None in ranks or (on_device(self.of(value)) and ranks != {0}):
                return False
            count += len(tuples[0]) if tuples else 1
        return self.seen.ranks(node.value) == {count}

    def subscripts(self, node: cst.CSTNode) -> Iterator[cst.Subscript]:
        """The subscripts of arrays of the device inside of a piece of syntax."""
        for inner in walk(node):
            if isinstance(inner, cst.Subscript) and self.of(inner.value) is ARRAY:
                yield inner


def index_names(node: cst.Subscript) -> set[str]:
    """The names that an index is made of."""
    return {n for e in node.slice for n in used_names(e)}


def loop_names(node: cst.For) -> set[str]:
    """The names that a loop counts with."""
    return set(target_names(node.target))


def _inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements right inside of a statement."""
    match node:
        case cst.SimpleStatementLine(body=body) | cst.SimpleStatementSuite(body=body):
            yield from body
        case cst.IndentedBlock(body=body):
            yield from body
        case (
            cst.If(body=body, orelse=orelse)
            | cst.For(body=body, orelse=orelse)
            | cst.While(body=body, orelse=orelse)
        ):
            yield body
            if orelse is not None:
                yield orelse
        case cst.Else(body=body) | cst.With(body=body):
            yield body
