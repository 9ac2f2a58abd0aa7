"""What the type signatures and the layout of a ufunc or gufunc say of dimensions."""

from __future__ import annotations

import ast
import re

from porter.rules.model import Function, PyFile

_TYPE = re.compile(r"\s*[A-Za-z_][\w.]*\s*(?:\[([^\]]*)\])?\s*")


def dimensions(file: PyFile, signature: ast.expr) -> list[int] | None:
    """The number of dimensions of each argument type, None when that is not certain."""
    if isinstance(signature, ast.Constant) and isinstance(signature.value, str):
        return _of_text(signature.value)
    if isinstance(signature, ast.Call) and not signature.keywords:
        parts = signature.args
    elif isinstance(signature, ast.Tuple):
        parts = signature.elts
    else:
        return None
    found = [_of_node(file, p) for p in parts]
    return [d for d in found if d is not None] if None not in found else None


def returns(signature: ast.expr) -> str | None:
    """The return type of a signature that is a text, None when it has none or is void."""
    if not isinstance(signature, ast.Constant) or not isinstance(signature.value, str):
        return None
    name, opened, _ = signature.value.partition("(")
    return name.strip() if opened and name.strip() not in ("", "void", "none") else None


def layout_node(function: Function) -> ast.Constant | None:
    """The layout among the decorator's arguments."""
    call = function.decorator
    if not isinstance(call, ast.Call):
        return None
    for value in (*call.args, *(k.value for k in call.keywords)):
        if isinstance(value, ast.Constant) and "->" in str(value.value):
            return value if "[" not in str(value.value) else None
    return None


def _of_text(text: str) -> list[int] | None:
    # the parentheses may be left out: "f8[:], f8[:]"
    _, opened, rest = text.partition("(")
    inside, closed, _ = rest.rpartition(")") if opened else (text, ")", "")
    if not closed or "(" in inside:
        return None
    found = []
    at = 0
    while at < len(inside):
        match = _TYPE.match(inside, at)
        if match is None or inside[match.end() : match.end() + 1] not in ("", ","):
            return None
        found.append(len(match[1].split(",")) if match[1] is not None else 0)
        at = match.end() + 1
    return found


def _of_node(file: PyFile, node: ast.expr) -> int | None:
    if isinstance(node, ast.Subscript):
        inner = _of_node(file, node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = all(isinstance(p, ast.Slice) for p in parts)
        return len(parts) if inner == 0 and slices else None
    return 0 if (file.qualified(node) or "").startswith("numba.") else None
