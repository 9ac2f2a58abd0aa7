"""What a constant of the module level is: the expression that tells its value.

It is the constant's own assignment where nothing else can touch it.  Else its value is known only
after some statements ran: then it is a literal, which the header of the module states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import libcst as cst

from porter.diagnostics import Note, Refusal, Span, brief, refusal
from porter.lowering.state.builder import Builder
from porter.resolve.globals import Globals
from porter.resolve.reducers import is_assigned
from porter.resolve.toplevel import Executed, TopLevel, Unknown
from porter.resolve.values import DTypeName, Function, Module, Value
from porter.source.module import SourceModule
from porter.source.walk import children, walk
from porter.support.reserved import given
from porter.syntax.names import used_names

#: how much of a value the header of a module shows
SHOWN = 60


@dataclass(frozen=True)
class Reading:
    """The expression of a constant, and the names that it is made of."""

    node: cst.BaseExpression
    scope: Globals


def reading(b: Builder, scope: Globals, name: str) -> Reading:
    """The expression of a constant. Refuses one whose value no part of the file fixes."""
    if scope.top is None:
        raise b.refuse(
            "PRT914", f"the value of `{name}` is not known at conversion", _PASS.format(name)
        )
    if is_assigned(scope, name):
        return Reading(scope.assigned[name], scope)
    status = scope.top.status(given(name))
    if isinstance(status, Unknown) and not scope.options.run_module:
        raise _changed(b, scope, name, status)
    if not isinstance(status, (Executed, Unknown)):
        return Reading(scope.assigned[name], scope)
    lines = _lines(status.lines if isinstance(status, Executed) else ())
    if scope.options.verdict_only and name in scope.assigned:
        # nothing may run: the first assignment shows what kind of value it is
        b.host.assume(f"{name} is computed by {lines}")
        return Reading(scope.assigned[name], scope)
    if scope.options.values is None:
        text = f"the value of `{name}` requires running {lines.removeprefix('running ')}"
        raise b.refuse(
            "PRT914", text, "leave out `--no-verify`, so that `porter convert` runs the code"
        )
    found = scope.options.values(scope.module.path, scope.module.shown.whole, given(name))
    if not found.text:
        raise b.refuse("PRT914", f"`{name}` {found.why}", _PASS.format(name))
    shown = found.text if len(found.text) <= SHOWN else f"{found.text[:SHOWN]}..."
    b.host.assume(f"{name} is {shown} ({lines})")
    return Reading(cst.parse_expression(found.text), _numpy_scope())


def computed(
    b: Builder, name: str, found: Reading, evaluate: Callable[[cst.BaseExpression], Value]
) -> Value:
    """The value of a constant. Where it cannot be computed, the place of that is its use."""
    use = b.place.node
    try:
        return evaluate(found.node)
    except Refusal as error:
        if use is None or b.place.call_here is not None:
            raise
        b.place.node = use
        inner = error.diagnostic
        text = f"the value of `{name}` is not known at conversion"
        if inner.code == "PRT914":
            text = inner.message
        d = b.refuse("PRT914", text, _PASS.format(name)).diagnostic
        notes = inner.notes or (Note(inner.span, inner.message),)
        raise refusal(d.code, d.message, d.span, d.help, notes) from None


def alternative(b: Builder, scope: Globals, name: str) -> Reading | None:
    """The value of a name that an import gives, or an assignment where that fails.

    None where it is what is imported, or where nothing may run.
    """
    if scope.top is None or scope.options.values is None or not scope.top.chosen_on_import(name):
        return None
    found = scope.options.values(scope.module.path, scope.module.shown.whole, name)
    if not found.text:
        return None
    b.host.assume(f"{name} is {found.text} ({_lines(scope.top.lines(name))})")
    return Reading(cst.parse_expression(found.text), _numpy_scope())


#: what to do about a name that a generated module cannot use
NOT_IN_MODULE = "compute the value in the caller and pass it as a parameter"


def not_in_module(name: str) -> str:
    """The fact that generated code needs something that only the source file has."""
    return f"`{name}` is defined in the source file, not in the generated module"


_PASS = "pass `{0}` as a parameter"


def _changed(b: Builder, scope: Globals, name: str, status: Unknown) -> Refusal:
    text = f"the value of `{name}` is not fixed: {status.why} (line {status.line})"
    d = b.refuse("PRT914", text, f"{_PASS.format(name)}, or use `--run-module`").diagnostic
    first = scope.module.lines[status.line - 1]
    column = len(first) - len(first.lstrip()) + 1
    note = Note(Span(status.line, column, status.line, len(first) + 1), "changed here")
    return refusal(d.code, d.message, d.span, d.help, () if scope.foreign else (note,))


def _lines(lines: Sequence[int]) -> str:
    """`line 3`, `lines 3 and 5`, `lines 3 to 9`; the whole module without numbers."""
    if not lines:
        return "running the module"
    numbers = sorted(set(lines))
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    word = "and" if len(numbers) == 2 else "to"
    return f"lines {numbers[0]} {word} {numbers[-1]}"


@cache
def _numpy_scope() -> Globals:
    """The names that the text of a computed value may use."""
    return Globals(SourceModule("import numpy as np\n", "<value>"))


def check_default(b: Builder, scope: Globals, node: cst.BaseExpression, line: int) -> None:
    """Refuse a default whose names mean something else after the function's definition."""
    if scope.top is None:
        return
    for name in sorted(used_names(node)):
        if name in scope.constants and not scope.top.settled(given(name), line):
            raise b.refuse(
                "PRT914",
                f"`{name}` changes after the default value was computed from it",
                "write the value itself as the default",
            )


def check_patched(b: Builder, scope: Globals, nodes: Sequence[cst.CSTNode]) -> None:
    """Refuse the use of a library's attribute that the file sets: `np.sqrt = ...`."""
    top = scope.top
    if top is None or not top.patches_libraries:
        return
    for node in (n for own in nodes for n in walk(own)):
        line = _patched(top, node)
        if line is not None:
            b.place.node = node
            text = scope.module.code(node)
            raise b.refuse("PRT914", f"`{brief(text)}` is replaced at line {line}",
                           "give the replacement a separate name")  # fmt: skip


def _patched(top: TopLevel, node: cst.CSTNode) -> int | None:
    path = ""
    if isinstance(node, cst.Attribute):
        parts: list[str] = []
        inner: cst.BaseExpression = node
        while isinstance(inner, cst.Attribute):
            parts.insert(0, inner.attr.value)
            inner = inner.value
        if isinstance(inner, cst.Name) and given(inner.value) in top.names.libraries:
            path = ".".join([top.names.libraries[given(inner.value)], *parts])
    elif isinstance(node, cst.Name):
        path = top.names.libraries.get(given(node.value), "")
    owner, _, attribute = path.rpartition(".")
    return top.patched(owner, attribute) if owner else None


def text_of(b: Builder, scope: Globals, node: cst.BaseExpression) -> str:
    """An expression of the module level as the generated module has it, its imports noted."""
    changes: dict[cst.CSTNode, cst.BaseExpression] = {}
    stack: list[cst.CSTNode] = [node]
    while stack:
        part = stack.pop()
        match part:
            case cst.Attribute(value=value):
                stack.append(value)
            case cst.Arg(value=value):
                stack.append(value)
            case cst.Name(value=name) if name in scope.constants:
                _copied(b, scope, name)
            case cst.Name(value=name) if name in scope.names:
                new = _ours(b, scope, name)
                if new is not None:
                    changes[part] = new
            case _:
                stack += children(part)
    if not changes:
        return b.place.module.code(node)
    made = node.visit(_Replace(changes))
    assert isinstance(made, cst.BaseExpression)
    return b.place.module.code(made)


def _copied(b: Builder, scope: Globals, name: str) -> None:
    """A constant that the text of another one, or of a default, needs in the module."""
    if name in b.host.constants:
        return
    found = reading(b, scope, name)
    if isinstance(found.node, (cst.Lambda, cst.BaseComp, cst.Await)):
        raise b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
    text = text_of(b, found.scope, found.node)
    b.host.constants[name] = text
    b.out.taken.add(name)


def _ours(b: Builder, scope: Globals, name: str) -> cst.BaseExpression | None:
    """What the module calls something that the source imports; None where it is imported too."""
    match scope.names[name]:
        case Module(name="numpy"):
            return cst.Name("np")
        case Module(name="math" | "cmath" as own):
            return cst.Name(own)
        case DTypeName(dtype=dtype):
            return cst.parse_expression(f"np.{'bool_' if dtype.name == 'bool' else dtype.name}")
        case Function(full=own) if own.path and own.library in ("numpy", "math", "cmath"):
            library = "np" if own.library == "numpy" else own.library
            return cst.parse_expression(f"{library}.{own.path}")
    lines = scope.imports.get(name)
    if not lines:
        raise b.refuse("PRT902", not_in_module(name), NOT_IN_MODULE)
    b.host.imports |= lines
    return None


class _Replace(cst.CSTTransformer):
    def __init__(self, changes: dict[cst.CSTNode, cst.BaseExpression]) -> None:
        super().__init__()
        self.changes = changes

    def on_leave(self, original: cst.CSTNode, updated: Any) -> Any:
        return self.changes.get(original, updated)
