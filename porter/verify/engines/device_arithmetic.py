"""Division and powers as kernels compute them: NaN and infinity instead of exceptions.

In the simulator a kernel runs as Python, where `1.0 / 0.0` raises.  The verifier rewrites
`/`, `//`, `%` and `**` in the kernels that it loads, so that plain Python numbers behave as
the compiler's float64 and int64.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

_OPERATORS: dict[type[ast.operator], tuple[str, Callable[..., Any]]] = {
    ast.Div: ("_porter_div", operator.truediv),
    ast.FloorDiv: ("_porter_floordiv", operator.floordiv),
    ast.Mod: ("_porter_mod", operator.mod),
    ast.Pow: ("_porter_pow", operator.pow),
}
_PLAIN = (bool, int, float)
_LEAST = -(2**63)


def _guarded(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if function is operator.floordiv and _overflows(left, right):
            return np.int64(0)
        if not (isinstance(left, _PLAIN) and isinstance(right, _PLAIN)):
            return function(left, right)
        try:
            result = function(left, right)
        except (ZeroDivisionError, OverflowError):
            whole = isinstance(left, int) and isinstance(right, int)
            if whole and function is not operator.truediv:
                return 0
            return function(np.float64(left), np.float64(right))
        # (-8.0) ** 0.5 is complex in Python
        return np.float64(np.nan) if isinstance(result, complex) else result

    return apply


def _overflows(left: Any, right: Any) -> bool:
    """Whether a quotient is past int64: Numba gives 0, NumPy the dividend."""
    whole = isinstance(left, int | np.int64) and isinstance(right, int | np.signedinteger)
    return bool(whole and right == -1 and left == _LEAST)


#: what the rewritten kernels find among their globals
NAMES = {name: _guarded(function) for name, function in _OPERATORS.values()}


class _Rewrite(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node.op, node.left, node.right, node) or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        call = _call(node.op, ast.Name(node.target.id, ast.Load()), node.value, node)
        return ast.copy_location(ast.Assign([node.target], call), node) if call else node


def _call(op: ast.operator, left: ast.expr, right: ast.expr, at: ast.AST) -> ast.expr | None:
    if type(op) not in _OPERATORS:
        return None
    name = _OPERATORS[type(op)][0]
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [left, right], []), at)


def rewrite_kernels(tree: ast.Module) -> None:
    """Change the functions that a `jit` decorator makes kernels or device functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list)):
            node.body = [_Rewrite().visit(statement) for statement in node.body]
    ast.fix_missing_locations(tree)


def _is_jit(decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(node, "attr", getattr(node, "id", "")) == "jit"
