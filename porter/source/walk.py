"""Walking a libcst tree without its visitors, which copy sequences and call hooks for every
bracket and blank: reading names and calls this way takes a tenth of the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

#: fields that hold brackets, blanks and commas
_LAYOUT = ("whitespace", "leading_lines", "lines_after", "lpar", "rpar", "header", "footer",
           "comma", "semicolon", "indent", "lbracket", "rbracket", "lbrace", "rbrace",
           "equal", "dot", "asname_space",
           "newline", "trailing", "empty_lines")  # fmt: skip


@cache
def _parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a kind of node that hold code."""
    return tuple(f.name for f in fields(kind) if not f.name.startswith(_LAYOUT))


@cache
def _is_node(kind: type) -> bool:
    """Whether values of a type are nodes (`isinstance` of an abstract class is slower)."""
    return issubclass(kind, cst.CSTNode)


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below a node, in source order, layout left out."""
    below: list[cst.CSTNode] = []
    for name in _parts(type(node)):
        value = getattr(node, name)
        if isinstance(value, (list, tuple)):
            below += value
        elif _is_node(value.__class__):
            below.append(value)
    return below


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and what is below it, depth first in source order, layout left out."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def joined(space: cst.ParenthesizedWhitespace) -> cst.BaseParenthesizableWhitespace:
    """A line break inside of brackets; where no comment is lost, the statement is laid out anew."""
    comments = [space.first_line.comment, *(line.comment for line in space.empty_lines)]
    return space if any(comments) else cst.SimpleWhitespace(" ")


class OneLineEach(cst.CSTTransformer):
    """Puts each statement on one line; `whole` tells whether that lost no comment."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = True

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.BaseParenthesizableWhitespace:
        """A blank for a line break."""
        new = joined(updated_node)
        self.whole = self.whole and new is not updated_node
        return new
