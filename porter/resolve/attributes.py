"""Methods that read attributes of `self`: functions of those attributes.

`self.dt` becomes the name `self_dt`, which is as long, so that every position in the file stays
what it is.  The generated function takes `self` and reads the attributes on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from porter.diagnostics import Span, refusal
from porter.source.module import FunctionSource, SourceModule
from porter.source.text import split_lines
from porter.source.walk import children
from porter.support.reserved import ATTRIBUTE_PREFIX


def as_function(function: FunctionSource) -> FunctionSource:
    """A method as a function of what it reads of `self`; other functions as they are.

    Methods that it calls are followed.  Refuses methods that do more with `self` than read its
    attributes.
    """
    if "." not in function.name or function.module.shown is not function.module:
        return function
    if not _takes_self(function.node):
        return function
    owner, source = function.name.rpartition(".")[0], function.module
    lines = [f"{line}\n" for line in split_lines(source.text)]
    found: dict[str, None] = {}
    todo, methods = [function.name], [function.name]
    while todo:
        for node in _uses(source, owner, source.by_name[todo.pop()].node.body):
            attr = node.attr.value
            _replace(lines, source.span(node), attr)
            called = f"{owner}.{attr}"
            if called not in source.by_name:
                found[attr] = None
            elif called not in methods:
                methods.append(called)
                todo.append(called)
    if not found and len(methods) == 1:
        return function
    _blank(lines, source, {*methods, f"{owner}.__init__"})
    module = SourceModule("".join(lines), source.path)
    module.shown = source
    return replace(module.by_name[function.name], attributes=tuple(found))


def _blank(lines: list[str], source: SourceModule, needed: set[str]) -> None:
    """Leave out the methods that are not needed: a class of tests has hundreds of others."""
    for other in source.functions:
        if "." not in other.name or other.name in needed:
            continue
        body = other.node.body
        if other.node.decorators or not isinstance(body, cst.IndentedBlock):
            continue
        first, last = other.span.line, other.span.end_line
        indent = lines[first - 1][: other.span.column - 1]
        lines[first - 1 : last] = [f"{indent}pass\n", *["\n"] * (last - first)]


def methods_of(function: FunctionSource) -> dict[str, cst.FunctionDef]:
    """The methods of the class by the names that calls of them have: without `self`."""
    owner = function.name.rpartition(".")[0]
    return {
        ATTRIBUTE_PREFIX + f.name.rpartition(".")[2]: _without_self(f.node)
        for f in function.module.functions
        if f.name.rpartition(".")[0] == owner and _takes_self(f.node)
    }


def _without_self(node: cst.FunctionDef) -> cst.FunctionDef:
    return node.with_changes(params=node.params.with_changes(params=node.params.params[1:]))


def _replace(lines: list[str], span: Span, attr: str) -> None:
    line, start, old = lines[span.line - 1], span.column - 1, f"self.{attr}"
    if line[start:][: len(old)] != old:
        raise refusal(
            "PRT902", f"`{old}` is split over several lines", span, "write it on one line"
        )
    lines[span.line - 1] = f"{line[:start]}{ATTRIBUTE_PREFIX}{attr}{line[start + len(old) :]}"


def _takes_self(node: cst.FunctionDef) -> bool:
    params = node.params.params
    return bool(params) and params[0].name.value == "self" and not node.decorators


def _uses(source: SourceModule, owner: str, node: cst.CSTNode) -> Iterator[cst.Attribute]:
    """The attributes of `self` that are read. Refuses any other use of it."""
    match node:
        case cst.Name(value="self"):
            raise refusal(
                "PRT902",
                "`self` is used as a value",
                source.span(node),
                "read attributes of `self`, and pass those to other functions",
            )
        case cst.Call(func=cst.Attribute(value=cst.Name(value="self"), attr=attr) as func):
            method = source.by_name.get(f"{owner}.{attr.value}")
            if method is None or not _takes_self(method.node):
                raise refusal("PRT901", f"`self.{attr.value}` is called", source.span(func),
                              "make it a function and pass it what it needs")  # fmt: skip
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) if _own(target):
            raise refusal(
                "PRT902",
                f"assignment to the attribute `{source.brief(target)}`",
                source.span(target),
                "store into the array (`[...] =`), or return the new value",
            )
        case cst.Attribute(value=cst.Name(value="self"), attr=attr):
            method = source.by_name.get(f"{owner}.{attr.value}")
            if method is not None and method.node.decorators:
                raise refusal("PRT902", f"`self.{attr.value}` is a property", source.span(node),
                              "pass its value as an argument")  # fmt: skip
            yield node
            return
        case cst.Attribute(value=value):
            yield from _uses(source, owner, value)
            return
    for child in children(node):
        yield from _uses(source, owner, child)


def _own(target: cst.CSTNode) -> bool:
    """Whether an attribute of `self` is assigned, alone or in a tuple."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return any(_own(e.value) for e in target.elements)
    return isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and (
        target.value.value == "self"
    )  # fmt: skip


def parameters_of(function: FunctionSource) -> list[cst.Param]:
    """The positional parameters, the keyword-only ones, the attributes of `self`."""
    p = function.node.params
    own = [*p.posonly_params, *p.params, *p.kwonly_params]
    if not function.attributes:
        return own
    return [*own[1:], *_attribute_parameters(function)]


def _attribute_parameters(function: FunctionSource) -> list[cst.Param]:
    """A parameter for each attribute, with the hint that the class gives."""
    hints = dict(_hints(function))
    return [
        cst.Param(cst.Name(ATTRIBUTE_PREFIX + a), annotation=hints.get(a))
        for a in function.attributes
    ]


def _hints(function: FunctionSource) -> Iterator[tuple[str, cst.Annotation]]:
    """Hints of the class body, then of the arguments of `__init__` that are kept."""
    owner = function.name.rpartition(".")[0]
    init = function.module.by_name.get(f"{owner}.__init__")
    if init is not None:
        given = {p.name.value: p.annotation for p in init.node.params.params}
        for line in _statements(init.node.body):
            match line:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name)))],
                    value=value,
                ):
                    hint = _hint_of(value, given)
                    if hint is not None:
                        yield name, hint
    for node in function.module.tree.body:
        if isinstance(node, cst.ClassDef) and node.name.value == owner:
            for line in _statements(node.body):
                if isinstance(line, cst.AnnAssign) and isinstance(line.target, cst.Name):
                    yield line.target.value, line.annotation


def _hint_of(
    value: cst.BaseExpression, given: dict[str, cst.Annotation | None]
) -> cst.Annotation | None:
    match value:
        case cst.Name(value=name):
            return given.get(name)
        case cst.Float():
            return cst.Annotation(cst.Name("float"))
        case cst.Integer():
            return cst.Annotation(cst.Name("int"))
    return None


def _statements(body: cst.BaseSuite) -> Iterator[cst.BaseSmallStatement]:
    for line in body.body:
        if isinstance(line, cst.SimpleStatementLine):
            yield from line.body
