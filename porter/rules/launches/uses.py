"""What a kernel does with each array that it is given."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from porter.rules.model import Function

#: attributes of an array that say nothing of its elements
FACTS = ("shape", "size", "ndim", "dtype", "strides", "nbytes", "itemsize")


@dataclass
class Use:
    """Whether a parameter's elements are read or written, and whether it goes elsewhere."""

    read: bool = False
    written: bool = False
    escapes: bool = False

    @property
    def only_read(self) -> bool:
        """Whether the array surely is an input and no more."""
        return self.read and not self.written and not self.escapes

    @property
    def only_written(self) -> bool:
        """Whether the array surely is an output and no more."""
        return self.written and not self.read and not self.escapes


@lru_cache(maxsize=256)
def uses(function: Function) -> dict[str, Use]:
    """The use of each parameter; one that the body rebinds escapes."""
    found = {name: Use() for name in function.parameters}
    parents = {c: p for p in ast.walk(function.node) for c in ast.iter_child_nodes(p)}
    for node in function.nodes:
        if isinstance(node, ast.Name) and node.id in found:
            _add(found[node.id], node, parents)
    # nested functions and lambdas may use a parameter in any way
    own = {id(n) for n in function.nodes}
    for node in (n for s in function.node.body for n in ast.walk(s)):
        if isinstance(node, ast.Name) and node.id in found and id(node) not in own:
            found[node.id].escapes = True
    return found


def _add(use: Use, node: ast.Name, parents: dict[ast.AST, ast.AST]) -> None:
    at: ast.AST = node
    parent = parents.get(at)
    if isinstance(parent, ast.Attribute) and parent.attr in FACTS:
        return
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and at in parent.args:
        use.escapes |= parent.func.id != "len"
        return
    while isinstance(parent, ast.Subscript) and parent.value is at:
        at, parent = parent, parents.get(parent)
    if not isinstance(at, ast.Subscript):
        use.escapes = True
    elif isinstance(at.ctx, ast.Load):
        use.read = True
        # `row = x[i]` may be a view that is written later
        use.escapes |= isinstance(parent, (ast.Assign, ast.Call)) and _may_be_row(at)
    else:
        use.written = True
        use.read |= isinstance(parent, ast.AugAssign)


def _may_be_row(at: ast.Subscript) -> bool:
    return any(isinstance(n, ast.Slice) for n in ast.walk(at.slice))


def parameter(function: Function, position: int) -> str | None:
    """The name of the parameter that a positional argument is for."""
    names = function.parameters
    return names[position] if position < len(names) else None
