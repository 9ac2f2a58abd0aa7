"""Host memory that the device can copy from by itself: pinned, mapped and managed arrays."""

from __future__ import annotations

import ast

from porter.rules.launches.sites import Scope, own_nodes
from porter.rules.model import PyFile
from porter.rules.transfers.scopes import assigned

_PINNED = ("numba.cuda.pinned_array", "numba.cuda.pinned_array_like")
_SHARED = (
    "numba.cuda.mapped_array",
    "numba.cuda.mapped_array_like",
    "numba.cuda.managed_array",
)


def pinned(file: PyFile, scope: Scope) -> set[str]:
    """Names that are page-locked: made so, or inside `with cuda.pinned(...)`."""
    found = {n for n, v, _ in assigned(scope) if file.callee(v) in _PINNED}
    for node in own_nodes(scope):
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and file.callee(call) == "numba.cuda.pinned":
                    found |= {a.id for a in call.args if isinstance(a, ast.Name)}
    return found


def shared(file: PyFile, scope: Scope) -> set[str]:
    """Names of arrays that host and device both reach."""
    return {n for n, v, _ in assigned(scope) if file.callee(v) in _SHARED}


def stream_of(call: ast.Call, position: int) -> ast.expr | None:
    """The stream that a copy is given, if it is another than the default one."""
    given = call.args[position] if len(call.args) > position else None
    for keyword in call.keywords:
        if keyword.arg == "stream":
            given = keyword.value
    return None if given is None or isinstance(given, ast.Constant) else given
