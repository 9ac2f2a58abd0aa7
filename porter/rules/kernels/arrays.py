"""Which names and expressions of a device function are whole arrays."""

from __future__ import annotations

import ast

from porter.rules.model import Function, stored

_ATTRIBUTES = frozenset({"shape", "size", "ndim", "strides", "dtype"})


def array_names(function: Function) -> set[str]:
    """Parameters that are subscripted, asked for their shape, or measured with `len`."""
    found: set[str] = set()
    for node in function.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
            if isinstance(node.value, ast.Name):
                found.add(node.value.id)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "len"
            and node.args
            and isinstance(node.args[0], ast.Name)
        ):
            found.add(node.args[0].id)
    # a name that the body binds again may stand for a scalar by then
    return (found & set(function.parameters)) - stored(function.nodes)


def has_slice(node: ast.Subscript) -> bool:
    """Whether a subscript takes a part of an array: `x[i, :]`, `x[1:]`, `x[...]`."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(
        isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value is Ellipsis)
        for p in parts
    )


def is_array(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is certainly a whole array or a part of one."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Subscript):
        return has_slice(node)
    if isinstance(node, ast.BinOp):
        return is_array(node.left, names) or is_array(node.right, names)
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return is_array(node.operand, names)
    return False
