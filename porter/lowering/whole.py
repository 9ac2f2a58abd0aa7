"""A whole function as the module has it beside its kernels: what it does with numbers alone.

NumPy computes it on the host, so its text is the user's.  Names of the source file are spelled as
the module has them; functions of the project that it calls stand inside of it.
"""

from __future__ import annotations

import symtable
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst

from porter.diagnostics import Refusal
from porter.lowering.constants import NOT_IN_MODULE, not_in_module, text_of
from porter.lowering.expressions.evaluate import ExpressionEvaluator
from porter.lowering.expressions.inline import statements_of
from porter.lowering.host.text import HostText
from porter.lowering.state.builder import Builder
from porter.lowering.statements.statements import FunctionBody
from porter.resolve.definitions import check_function
from porter.resolve.globals import Globals, imported
from porter.resolve.project import imported_from, module_named
from porter.resolve.values import Function, Value
from porter.source.module import FunctionSource
from porter.source.walk import OneLineEach, walk


@dataclass(frozen=True)
class Whole:
    """The text of a function, the constants and imports that it needs, and what is assumed."""

    text: str
    constants: tuple[tuple[str, str], ...]
    imports: frozenset[str]
    assumed: tuple[str, ...]


def whole(function: FunctionSource, scope: Globals, name: str) -> Whole | None:
    """The function under another name; None where the module cannot have it."""
    builder = Builder(function.module, True, frozenset(), True, frozenset())
    copy = _Copy(builder, scope)
    try:
        text = copy.of(function.node, name)
    except Refusal:
        return None
    host = builder.host
    return Whole(
        text, tuple(host.constants.items()), frozenset(copy.imports | host.imports),
        tuple(host.assumed),
    )  # fmt: skip


@dataclass(frozen=True)
class _Helper:
    """A function that another one calls by this name, and the file that it stands in."""

    name: str
    node: cst.FunctionDef
    scope: Globals


class _Copy:
    """Writes a function, and the functions of the project that it calls inside of it."""

    def __init__(self, builder: Builder, scope: Globals) -> None:
        self.builder, self.scope = builder, scope
        self.tree = builder.place.module.tree
        self.imports: set[str] = set()

    def of(self, node: cst.FunctionDef, name: str) -> str:
        """The text of a function that needs nothing but the module's imports and constants."""
        done: dict[str, tuple[_Helper, cst.FunctionDef]] = {}
        own, todo = self._written(node, self.scope)
        while todo:
            helper = todo.pop()
            known = done.get(helper.name)
            if helper.node is node or (known is not None and known[0].node is not helper.node):
                raise self._refused(helper.name)
            if known is None:
                check_function(helper.scope, helper.node, top=False)
                written, more = self._written(helper.node, helper.scope)
                done[helper.name] = helper, written.with_changes(name=cst.Name(helper.name))
                todo += more
        late = sorted(line for line in self.imports if not _is_plain(line))
        self.imports -= set(late)
        inside = [done[k][1] for k in sorted(done)]
        suite = own.body.with_changes(
            body=_apart([*map(cst.parse_statement, late), *inside, *own.body.body])
        )
        made = own.with_changes(
            name=cst.Name(name), body=suite, params=_positional(node),
            whitespace_before_params=cst.SimpleWhitespace(""),
        )  # fmt: skip
        return self.tree.code_for_node(made).strip("\n")

    def _written(
        self, node: cst.FunctionDef, scope: Globals
    ) -> tuple[cst.FunctionDef, list[_Helper]]:
        """The function without hints and docstring, and the functions that it calls."""
        if any(map(_keeps_out, walk(node.body))):
            raise self._refused(node.name.value)
        bare = node.with_changes(
            body=cst.IndentedBlock(_without_docstring(statements_of(node))),
            decorators=[], returns=None, leading_lines=[], lines_after_decorators=[],
        )  # fmt: skip
        bare = bare.with_changes(params=bare.params.visit(_WithoutHints()))
        body = FunctionBody(ExpressionEvaluator(self.builder, scope, {}, FunctionBody))
        host = _Text(body, _locals(self.tree.code_for_node(bare)))
        new = host.of(bare)
        if scope is not self.scope and host.needs.imports:
            raise self._refused(node.name.value)
        self.imports |= host.needs.imports
        return cst.ensure_type(new.visit(OneLineEach()), cst.FunctionDef), [*host.helpers.values()]

    def _refused(self, name: str) -> Refusal:
        return self.builder.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)


class _Text(HostText):
    """The text of a function; the functions of the project that it calls are noted."""

    def __init__(self, body: FunctionBody, local: set[str]) -> None:
        super().__init__(body, local)
        self.helpers: dict[str, _Helper] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        """What the function imports itself is no name of the file."""
        return not isinstance(node, (cst.Import, cst.ImportFrom)) and super().on_visit(node)

    def of(self, node: cst.FunctionDef) -> cst.FunctionDef:
        """The definition with what it refers to; its own name is no reference."""
        self.skipped.add(node.name)
        new = node.visit(self)
        assert isinstance(new, cst.FunctionDef)
        return new

    def _global(self, name: str, value: Value) -> cst.BaseExpression | None:
        scope = self.body.ev.scope
        if isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
            self.helpers[name] = _Helper(name, value.node, scope)
            return None
        elsewhere = imported_from(scope, name)
        if elsewhere is not None and elsewhere[1] in elsewhere[0].functions:
            other, own = elsewhere
            self.helpers[name] = _Helper(name, other.functions[own], other)
            return None
        if elsewhere is not None or module_named(scope, name) is not None:
            raise self.b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
        return super()._global(name, value)

    def _constant(self, name: str) -> None:
        """A constant of the file itself, with what it is made of."""
        if self.body.ev.scope.foreign:
            raise self.b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
        text_of(self.b, self.body.ev.scope, cst.Name(name))


class _WithoutHints(cst.CSTTransformer):
    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        return updated_node.with_changes(annotation=None)


#: what makes a function more than its calls: state that stays, or other definitions
_NOT_COPIED = (
    cst.Global, cst.Nonlocal, cst.FunctionDef, cst.ClassDef, cst.Yield, cst.Await,
)  # fmt: skip


def _keeps_out(node: cst.CSTNode) -> bool:
    """Whether a part of a function keeps it out of the module; what it imports is there, too."""
    if isinstance(node, (cst.Import, cst.ImportFrom)):
        names, lines = imported(node)
        return not all(n in lines and all(map(_is_plain, lines[n])) for n in names)
    return isinstance(node, _NOT_COPIED)


def _is_plain(line: str) -> bool:
    """Whether an import stands at the top of the module: what is no array library stands inside."""
    return line.split()[1].partition(".")[0] in {"numpy", "scipy"} | sys.stdlib_module_names


def _positional(node: cst.FunctionDef) -> cst.Parameters:
    """The parameters without defaults: the module's own function passes all of them."""
    names = [p.name for p in (*node.params.posonly_params, *node.params.params,
                              *node.params.kwonly_params)]  # fmt: skip
    return cst.Parameters(params=[cst.Param(cst.Name(n.value)) for n in names])


def _apart(statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """The statements with an empty line after each definition, as formatters have it."""
    found = list(statements)
    for k, (before, after) in enumerate(pairwise(statements), start=1):
        line = cst.EmptyLine(indent=False)
        if isinstance(before, cst.FunctionDef) and isinstance(
            after, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        ):
            lines = [one for one in after.leading_lines if one.comment is not None]
            found[k] = after.with_changes(leading_lines=[line, *lines])
    return found


def _without_docstring(statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    match statements:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]), *rest]:
            statements = rest or [cst.SimpleStatementLine([cst.Pass()])]
    first, *rest = statements
    if isinstance(first, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        first = first.with_changes(
            leading_lines=[line for line in first.leading_lines if line.comment is not None]
        )
    return [first, *rest]


def _locals(text: str) -> set[str]:
    """The names that a function binds."""
    (table,) = symtable.symtable(text, "function", "exec").get_children()
    return {s.get_name() for s in table.get_symbols() if not s.is_global()}
