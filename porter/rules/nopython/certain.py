"""What is certain to compile without object mode: numbers, arrays, loops, known calls."""

from __future__ import annotations

import ast

from porter.rules.model import Function, PyFile
from porter.support.tables import table

_PLAIN = (
    ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.While, ast.If, ast.Return, ast.Pass,
    ast.Break, ast.Continue, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
    ast.IfExp, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def compiles(file: PyFile, function: Function, node: ast.AST, arrays: set[str]) -> bool:
    """Whether a node (what is below it left aside) is certain to compile in nopython mode."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) or node is _docstring(function)
    if isinstance(node, ast.Call):
        return _has(file, function, node, arrays)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        array = node.value.id in arrays
        return file.qualified(node, function) is not None or (
            array and not any(table("cpu").lacks(g, node.attr) for g in ("methods", "attributes"))
        )
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript))
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        builtin = node.id in table("cpu").supported["builtins"]
        known = node.id in function.local_names or builtin
        return known or file.imported(node.id, node.lineno) in ("numpy", "math")
    return isinstance(node, _PLAIN)


def _docstring(function: Function) -> ast.AST | None:
    first = function.node.body[0]
    return first.value if isinstance(first, ast.Expr) else None


def _has(file: PyFile, function: Function, call: ast.Call, arrays: set[str]) -> bool:
    """Whether Numba certainly has the called function, with these parameters."""
    cpu = table("cpu")
    if isinstance(call.func, ast.Name) and call.func.id not in file.by_name:
        name = call.func.id
        return name in cpu.supported["builtins"] and name not in function.local_names
    full = file.qualified(call.func, function) or ""
    group, _, short = full.partition(".")
    if group in ("numpy", "math"):
        known = short in cpu.supported[group]
        return known and cpu.misfit(group, short, call) is None
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        known = call.func.attr in cpu.supported["methods"] and call.func.value.id in arrays
        return known and cpu.misfit("methods", call.func.attr, call) is None
    return False
