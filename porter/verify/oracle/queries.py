"""Whether a function asks for dtypes: with wider numbers it would be another function then.

What the original's own rounding amounts to is measured by runs of it, one of them with
wider inputs.  `np.finfo(x.dtype).eps` and `if x.dtype == np.float64` make that run tell
nothing about rounding, and a budget of it would let any error pass.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.source import newer

_ATTRIBUTES = frozenset({"dtype", "itemsize", "nbytes"})
_FUNCTIONS = frozenset(
    {"finfo", "iinfo", "issubdtype", "isdtype", "result_type", "promote_types", "min_scalar_type"}
    | {"can_cast", "common_type"}
)
_FLOATS = frozenset(
    {"float", "complex", "floating", "double", "single", "float16", "float32", "float64"}
    | {"complex64", "complex128"}
)


def asks_for_dtypes(text: str, name: str) -> bool:
    """Whether a function or method of a source, or another one there that it names, does so."""
    functions = {f.name: f for f in ast.walk(newer.parse(text)) if isinstance(f, ast.FunctionDef)}
    waiting, seen = [name.rsplit(".", 1)[-1]], set[str]()
    while waiting:
        function = functions.get(here := waiting.pop())
        if function is None or here in seen:
            continue
        seen.add(here)
        if any(_asks(parent, child) for parent, child in _pairs(function)):
            return True
        waiting += sorted(_named(function))
    return False


def _pairs(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            yield parent, child


def _named(tree: ast.AST) -> set[str]:
    nodes = list(ast.walk(tree))
    attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    return attributes | {n.id for n in nodes if isinstance(n, ast.Name)}


def _asks(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(child, ast.Call):
        asked = _last(child.func)
        classes = _named(child.args[1]) if asked == "isinstance" and len(child.args) > 1 else set()
        plain = isinstance(child.func, ast.Name) and asked == "type"
        return plain or asked in _FUNCTIONS or bool(classes & _FLOATS)
    if not isinstance(child, ast.Attribute) or child.attr not in _ATTRIBUTES:
        return False
    if child.attr == "dtype" and isinstance(parent, (ast.keyword, ast.Call)):
        return False  # for a new array of the same dtype
    return not (isinstance(parent, ast.Attribute) and parent.attr == "type")


def _last(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))
