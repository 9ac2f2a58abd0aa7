"""What a piece of syntax binds and names, without its meaning."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names of the positional parameters, in order."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]


def dotted(node: ast.expr) -> str:
    """`np.linalg.norm` for an attribute of names, `f` for a name, '' for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def targets(node: ast.AST) -> Iterator[str]:
    """The names in the target of an assignment."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds in its own scope."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
                continue
            case ast.ClassDef(name=name):
                yield name
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((a.asname or a.name).split(".")[0] for a in names if a.name != "*")
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
        stack += [
            c for c in ast.iter_child_nodes(node) if not isinstance(node, ast.comprehension)
            or c is not node.target
        ]  # fmt: skip


def assigned(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The names that belong to a function because its body binds them."""
    for statement in node.body:
        yield from bound(statement)


def arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """All parameters, those after `*` and `**` too."""
    spec = node.args
    further = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *further]


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly inside of a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, ast.expr_context):
            yield from expressions(child)


def unpacked(target: ast.expr, value: ast.expr) -> bool:
    """Whether `a, b = 1, 2` pairs names with values one by one."""
    displays = (ast.Tuple, ast.List)
    if not (isinstance(target, displays) and isinstance(value, displays)):
        return False
    parts = [*target.elts, *value.elts]
    plain = not any(isinstance(p, ast.Starred) for p in parts)
    return plain and len(target.elts) == len(value.elts)


def calls_globals(node: ast.expr) -> bool:
    """Whether an expression asks for the names of a scope."""
    return any(isinstance(n, ast.Name) and n.id in ("globals", "locals") for n in ast.walk(node))
