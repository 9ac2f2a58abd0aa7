"""Functions that `@guvectorize` decorates: the layout and the types that the source states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from porter.resolve.definitions import meaning
from porter.resolve.globals import Globals
from porter.source.layout import Layout, layout
from porter.source.module import FunctionSource
from porter.support.parsing import string_value

_GUFUNC = "numba.guvectorize"


@dataclass(frozen=True)
class Stated:
    """What a decorator says: the layout, where it stands, and the text of each signature."""

    layout: Layout | None
    node: cst.CSTNode
    signatures: tuple[str, ...]


def gufunc_of(function: FunctionSource, scope: Globals) -> Stated | None:
    """What is stated of a function by Numba's `guvectorize`; None if that does not decorate it."""
    for decorator in function.node.decorators:
        call = decorator.decorator
        if isinstance(call, cst.Call) and meaning(scope, call.func) == _GUFUNC:
            return _stated(function, call)
    return None


def is_on_cuda(decorator: cst.BaseExpression) -> bool:
    """Whether a decorator compiles for CUDA: `target="cuda"`."""
    given = decorator.args if isinstance(decorator, cst.Call) else ()
    return any(
        a.keyword is not None and a.keyword.value == "target" and _text(a.value) == "cuda"
        for a in given
    )


def _stated(function: FunctionSource, call: cst.Call) -> Stated:
    found = None
    node: cst.CSTNode = call
    texts: tuple[str, ...] = ()
    for a in call.args:
        text = _text(a.value)
        keyword = a.keyword.value if a.keyword is not None else ""
        if "->" in text and "[" not in text:
            found, node = layout(text), a.value
        elif keyword in ("", "ftylist"):
            texts = tuple(_signatures(function, a.value))
    return Stated(found, node, texts)


def _text(node: cst.BaseExpression) -> str:
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        value = string_value(node)
        return value if isinstance(value, str) else ""
    return ""


def _signatures(function: FunctionSource, node: cst.BaseExpression) -> Iterator[str]:
    """Each of a list, or the only one."""
    if isinstance(node, cst.List):
        for element in node.elements:
            yield from _signatures(function, element.value)
    else:
        yield _text(node) or function.module.code(node)
