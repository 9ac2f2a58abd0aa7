"""Small pieces of Python trees, made from text."""

from __future__ import annotations

import ast

from porter.support.parsing import expression_of

#: how every name that the emulator brings into a kernel begins
PREFIX = "_emu"


class _Fill(ast.NodeTransformer):
    def __init__(self, arguments: list[ast.expr]) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id.startswith("__"):
            return self.arguments[int(node.id[2:])]
        if node.id.startswith("_"):
            return ast.Name(PREFIX + node.id, node.ctx)
        return node


def expression(text: str, at: ast.AST, arguments: list[ast.expr], site: int = 0) -> ast.expr:
    """The tree of a text with arguments put in; names with a `_` are the emulator's."""
    every = ", ".join(f"__{k}" for k in range(len(arguments)))
    text = text.replace("{all}", every).replace("{site}", str(site))
    for k in range(len(arguments)):
        text = text.replace("{" + str(k) + "}", f"__{k}")
    tree = _Fill(arguments).visit(expression_of(text))
    assert isinstance(tree, ast.expr)
    place(tree, at)
    return tree


def place(tree: ast.AST, at: ast.AST) -> None:
    """Give the nodes that have no line of the kernel's the line of `at`."""
    given = [node for node in ast.walk(tree) if not hasattr(node, "porter_placed")]
    for node in given:
        if "lineno" in node._attributes:
            ast.copy_location(node, at)
        node.porter_placed = True  # type: ignore[attr-defined]


def mark(tree: ast.AST) -> None:
    """Say that the nodes of a tree have their own places."""
    for node in ast.walk(tree):
        node.porter_placed = True  # type: ignore[attr-defined]


def statement(value: ast.expr, at: ast.AST) -> ast.Expr:
    """An expression as a statement."""
    return ast.copy_location(ast.Expr(value), at)


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.Assign:
    """`name = value`."""
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    return ast.copy_location(ast.Assign([target], value), at)


def load(name: str, at: ast.AST) -> ast.Name:
    """A name that is read."""
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def index_value(node: ast.expr) -> ast.expr:
    """A subscript's index as an expression: `slice(a, b)` for `a:b`."""
    if isinstance(node, ast.Slice):
        none: list[ast.expr] = [ast.Constant(None) for _ in range(3)]
        bounds = [p or n for p, n in zip((node.lower, node.upper, node.step), none, strict=True)]
        bounds = bounds if node.step else bounds[:2]
        return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
    if isinstance(node, ast.Tuple):
        return ast.Tuple([index_value(e) for e in node.elts], ast.Load())
    return node
