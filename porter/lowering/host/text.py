"""The user's code as the host function has it.

Names are looked up where the statement stands: numbers that the host can compute are written
out, arrays of the device are brought to the host.
"""

from __future__ import annotations

import builtins
import cmath
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import libcst as cst

from porter import ir
from porter.diagnostics import Refusal
from porter.dtypes.dtype import strengthen
from porter.ir.scalars import on_host
from porter.lowering.constants import NOT_IN_MODULE, not_in_module, reading, text_of
from porter.lowering.evaluation import Body, is_expr
from porter.lowering.expressions.evaluate import REPLACED
from porter.lowering.expressions.texts import is_text
from porter.lowering.host import purity
from porter.resolve.globals import imported
from porter.resolve.values import (
    NONE,
    Array,
    DTypeName,
    Function,
    Listed,
    Module,
    Said,
    Text,
    Value,
)
from porter.source.module import SourceModule
from porter.source.walk import OneLineEach, children, walk
from porter.syntax.names import used_names

#: what can be asked of an array wherever it is
SHAPE = {"shape", "ndim", "size", "dtype"}


@dataclass
class Needs:
    """What the text of a host statement refers to: by placeholder, and imports."""

    values: list[tuple[str, ir.Expr]] = field(default_factory=list)
    arrays: list[tuple[str, str]] = field(default_factory=list)
    itself: set[str] = field(default_factory=set)  # arrays that the text keeps as objects
    asks: set[str] = field(default_factory=set)  # arguments that the text has by name
    imports: set[str] = field(default_factory=set)


_OWN_CLASS = "use a built-in class, such as `ValueError`, or import yours from another file"


class HostText(cst.CSTTransformer):
    """Rewrites a piece of the user's code for the host function, and notes what it needs."""

    def __init__(self, body: Body, local: set[str]) -> None:
        super().__init__()
        self.body = body
        self.b = body.b
        self.local = local
        self.needs = Needs()
        self.replaced: dict[cst.CSTNode, cst.BaseExpression] = {}
        self.skipped: set[cst.CSTNode] = set()
        self.bare: set[cst.CSTNode] = set()
        self.renamed: dict[str, str] = {}

    # -- walking -----------------------------------------------------------------------

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Decide about a node from the outside in; what is replaced is not looked into."""
        if node in self.skipped:
            return False
        match node:
            case cst.Attribute(attr=attr):
                self.skipped.add(attr)
            case cst.Arg(keyword=keyword) if keyword is not None:
                self.skipped.add(keyword)
            case cst.FormattedStringExpression(equal=equal) if equal is not None:
                raise self.b.refuse(
                    "PRT902",
                    "`=` in an f-string is not supported",
                    "write the name as text: `x={x}`",
                )
            case (
                cst.Lambda() | cst.GeneratorExp() | cst.ListComp() | cst.DictComp() | cst.SetComp()
            ):
                self.local = self.local | _bound_inside(node)
            case cst.Await() | cst.Yield() | cst.NamedExpr():
                raise self.b.refuse(
                    "PRT902",
                    "this expression cannot stay on the host",
                    "move the statement out of this function",
                )
        self._note_bare(node)
        if isinstance(node, cst.BaseExpression):
            new = self._expression(node)
            if new is not None:
                if node.lpar and not new.lpar:
                    # nothing else may stand between it and `assert`
                    new = new.with_changes(lpar=node.lpar, rpar=node.rpar)
                self.replaced[node] = new
                return False
        if isinstance(node, cst.Call):
            purity.check_call(self.body, node, self._reads_device)
        return True

    def on_leave(self, original: cst.CSTNode, updated: Any) -> Any:
        """Put the replacement in place."""
        return self.replaced.get(original, updated)

    def _note_bare(self, node: cst.CSTNode) -> None:
        """Arrays that are kept as objects: elements of containers, arguments of constructors."""
        match node:
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self.bare |= {e.value for e in elements}
            case cst.Dict(elements=elements):
                self.bare |= {e.value for e in elements}
            case cst.Call(args=args) if not purity.reads_only(self.body, node):
                self.bare |= {a.value for a in args}

    # -- expressions -------------------------------------------------------------------

    def _expression(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        if isinstance(node, cst.Name):
            return self._name(node)
        asked = self._asked(node)
        if asked is not None:
            # a helper has its own name for it
            argument = cst.Name(self.body.argument(asked.value))
            self.needs.asks.add(argument.value)
            renamed = node.deep_replace(asked, argument)
            assert isinstance(renamed, cst.BaseExpression)
            return renamed
        used = used_names(node)
        if used & self.local or not self._reads_device(node) or self._asks_shapes(node):
            return None
        if isinstance(node, (cst.Tuple, cst.List, cst.Dict)) or is_text(node, self.body.env):
            return None
        # what a refused attempt has noted is no part of the text
        with (
            suppress(Refusal),
            self.b.attempt(self.needs.values, self.needs.arrays, self.needs.asks),
        ):
            return self._text_of(self.body.ev(node), node)
        return None

    def _asked(self, node: cst.CSTNode) -> cst.Name | None:
        """The name of an argument of which the code asks the shape: the text says it already."""
        match node:
            case cst.Attribute(value=cst.Name() as name, attr=cst.Name(value=a)) if a in SHAPE:
                pass
            case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape")) as shape):
                return self._asked(shape)
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name() as name)]):
                pass
            case _:
                return None
        is_array = isinstance(self.body.env.get(name.value), Array)
        return name if is_array and self.body.argument(name.value) else None

    def _asks_shapes(self, node: cst.CSTNode) -> bool:
        """Whether shapes of arguments are all that the code asks of arrays."""
        if self._asked(node) is not None:
            return True
        if isinstance(node, cst.Name) and self._reads_device(node):
            return False
        return all(self._asks_shapes(child) for child in children(node))

    def _reads_device(self, node: cst.CSTNode) -> bool:
        """Whether the code reads something that is not the host's own."""
        return any(
            self._on_device(self.body.env[n])
            for n in used_names(node) - self.local
            if n in self.body.env
        )

    def _on_device(self, value: Value) -> bool:
        if isinstance(value, Array):
            return True
        if isinstance(value, tuple):
            return any(map(self._on_device, value))
        return is_expr(value) and not on_host(value)

    def _name(self, node: cst.Name) -> cst.BaseExpression | None:
        name = node.value
        if name in self.local:
            return cst.Name(self.renamed[name]) if name in self.renamed else None
        if name in self.body.env:
            value = self.body.env[name]
            if isinstance(value, (Module, Function)) and name in self.b.host.local_imports:
                return self._global(name, value)
            if value is self.body.given.get(name, value) and name in self.body.given:
                if not isinstance(value, Array):
                    return None
            return self._text_of(value, node)
        scope = self.body.ev.scope
        if name in scope.constants:
            self._constant(name)
            return None
        if name in scope.names:
            return self._global(name, scope.names[name])
        if scope.stars and name in REPLACED:
            raise self.b.refuse(
                "PRT902",
                f"`{name}` may come from `from {scope.stars[0]} import *`",
                "import the names explicitly instead of `*`",
            )
        if name in self.b.host.local_imports:
            self.needs.imports |= self.b.host.local_imports[name]
        elif not hasattr(builtins, name):
            self.b.place.node = node
            raise self.b.refuse("PRT902", not_in_module(name), _OWN_CLASS)
        return None

    def _global(self, name: str, value: Value) -> cst.BaseExpression | None:
        if isinstance(value, (Module, Function)) and value.name == "numpy":
            return cst.Name("np")
        if isinstance(value, Module) and value.name == "math":
            return cst.Name("_math")
        if isinstance(value, DTypeName):
            return cst.parse_expression(f"np.{_scalar_type(value)}")
        if isinstance(value, Function) and value.full.library == "numpy":
            return cst.parse_expression(value.name.replace("numpy", "np", 1))
        own = self.b.host.local_imports.get(name)
        if own and len(_imports(self.b.place.module).get(name, ())) > 1:
            return self._apart(value)
        lines = own or self.body.ev.scope.imports.get(name)
        if not lines:
            raise self.b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
        self.needs.imports |= lines
        return None

    def _apart(self, value: Value) -> cst.BaseExpression:
        """What a function imports under a name that means something else in another one."""
        assert isinstance(value, (Module, Function))
        alias = value.name.replace(".", "_")
        owner, _, last = value.name.rpartition(".")
        line = (
            f"import {value.name}" if isinstance(value, Module) else f"from {owner} import {last}"
        )
        self.needs.imports.add(f"{line} as {alias}")
        return cst.Name(alias)

    def _constant(self, name: str) -> None:
        """A module-level constant is copied with what it is made of."""
        scope = self.body.ev.scope
        found = reading(self.b, scope, name)
        value = found.node
        if scope.foreign or not purity.is_plain(value):
            raise self.b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
        for used in sorted(used_names(value)):
            if used in found.scope.constants:
                self._constant(used)
            elif used in found.scope.names:
                self._global(used, found.scope.names[used])
        self.b.host.constants.setdefault(name, text_of(self.b, found.scope, value))
        self.b.out.taken.add(name)

    def value(self, value: Value, node: cst.BaseExpression) -> cst.BaseExpression:
        """The text of a value that is not in the source as it stands."""
        new = self._text_of(value, node)
        return cst.parse_expression("()") if new is None else new

    def _text_of(self, value: Value, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The text of a value; None where the source text says it already."""
        match value:
            case Array():
                return self._array(value, node)
            case ir.Object(name=name):
                return cst.Name(name)
            case Text(value=text):
                return cst.parse_expression(repr(text))
            case Said(node=said, env=env):
                if any(self.body.env.get(n) is not v for n, v in env.items()):
                    raise self.b.refuse(
                        "PRT902",
                        "the string uses values that have changed since it was made",
                        "make the string where it is used",
                    )
                new = said.visit(self)
                assert isinstance(new, cst.BaseExpression)
                return new
            case tuple():
                parts = [self._text_of(v, node) for v in value]
                if any(p is None for p in parts):
                    raise self.b.refuse(
                        "PRT902",
                        "this value is not available on the host",
                        "move the statement out of this function",
                    )
                elements = [cst.Element(p) for p in parts if p is not None]
                return cst.List(elements) if isinstance(value, Listed) else cst.Tuple(elements)
            case DTypeName(dtype=dtype):
                if dtype.var is None:
                    return cst.parse_expression(f'np.dtype("{dtype.name}")')
                self.needs.asks.add(dtype.var)
                return cst.parse_expression(f"{dtype.var}.dtype")
            case Module() | Function():
                if isinstance(value, Function) and value.node is not None:
                    raise self.b.refuse("PRT902", not_in_module(value.name), NOT_IN_MODULE)
                return None
        if value is NONE:
            return cst.Name("None")
        if not is_expr(value):
            raise self.b.refuse(
                "PRT902",
                "this value is not available on the host",
                "move the statement out of this function",
            )
        return self._scalar(value)

    def _scalar(self, value: ir.Expr) -> cst.BaseExpression:
        if not on_host(value) and not isinstance(value, ir.Local):
            value = self._held(value)
        if isinstance(value, ir.Const) and value.dtype.weak and cmath.isfinite(value.value):
            # no name means what `inf` and `nan` print as
            return cst.parse_expression(repr(value.value))
        placeholder = f"host_value_{len(self.needs.values)}_"
        self.needs.values.append((placeholder, value))
        return cst.Name(placeholder)

    def _held(self, value: ir.Expr) -> ir.Expr:
        """A number that the device computes, in an array of its own without dimensions."""
        if isinstance(value, ir.Load) and not value.index:
            return value
        made = self.b.define("value", Array((), strengthen(value.dtype), lambda _: value))
        assert made.view is not None
        return ir.Load(made.view.buffer, (), value.dtype)

    def _array(self, value: Array, node: cst.BaseExpression) -> cst.BaseExpression:
        if value.mask is not None:
            raise self.b.refuse("PRT906", "a selection by a mask is not available on the host")
        if value.view is None or not value.is_buffer:
            value = self.b.define("copy", Array(value.shape, value.dtype, value.at))
        assert value.view is not None
        buffer = value.view.buffer
        bare, needs = node in self.bare, self.needs
        known = (p for p, n in needs.arrays if n == buffer and (p in needs.itself) == bare)
        placeholder = next(known, "")
        if not placeholder:
            placeholder = f"host_array_{len(needs.arrays)}_"
            needs.arrays.append((placeholder, buffer))
            if bare:
                needs.itself.add(placeholder)
        return cst.Name(placeholder)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, each statement on one line: it is laid out with the module.

        Comments, and strings that stand side by side, keep their lines.
        """
        line = OneLineEach()
        new = node.visit(line)
        beside = any(isinstance(n, cst.ConcatenatedString) for n in walk(node))
        kept = node if beside or not line.whole else new
        assert isinstance(kept, cst.CSTNode)
        return self.b.place.module.tree.code_for_node(kept)

    def statement(
        self, text: str, objects: tuple[str, ...] = (), kind: ir.HostKind = ir.HostKind.RUN
    ) -> ir.Host:
        """The statement of the IR with everything that was noted."""
        needs = self.needs
        self.b.host.imports |= needs.imports
        return ir.Host(text, self.b.place.origin, kind, tuple(needs.values), tuple(needs.arrays),
                       frozenset(needs.itself), frozenset(needs.asks), objects=objects)  # fmt: skip


def _scalar_type(value: DTypeName) -> str:
    return "bool_" if value.dtype.name == "bool" else value.dtype.name


def _bound_inside(node: cst.CSTNode) -> set[str]:
    """The names that lambdas and comprehensions bind."""
    found: set[str] = set()
    match node:
        case cst.Param(name=name):
            found.add(name.value)
        case cst.CompFor(target=target):
            found |= used_names(target)
    for child in children(node):
        found |= _bound_inside(child)
    return found


@lru_cache(maxsize=8)
def _imports(module: SourceModule) -> dict[str, set[str]]:
    """What the imports of a file bind each name to, those inside of functions included."""
    found: dict[str, set[str]] = {}
    for node in walk(module.tree):
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            for name, lines in imported(node)[1].items():
                found.setdefault(name, set()).update(lines)
    return found
