"""Python's parser for several threads.

CPython counts the depth of the tree that it builds in one place for all threads before 3.11.8:
two that parse at once may meet `SystemError: AST constructor recursion depth mismatch`
(https://github.com/python/cpython/issues/106905).  LibCST has it evaluate the text of strings.
"""

from __future__ import annotations

import ast
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst

_ONE_AT_A_TIME = threading.RLock()


def tree_of(text: str | bytes, filename: str = "<unknown>") -> ast.Module:
    """The tree of a module. Raises SyntaxError, and ValueError for a NUL, as `ast.parse` does."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, filename)


def expression_of(text: str) -> ast.expr:
    """The tree of one expression. Raises SyntaxError, as `ast.parse` does."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode="eval").body


def literal_value(text: str | ast.AST) -> Any:
    """The value of a literal, as `ast.literal_eval` gives it."""
    with _ONE_AT_A_TIME:
        return ast.literal_eval(text)


def docstring_of(node: cst.FunctionDef, clean: bool = True) -> str | None:
    """The docstring of a function, without its indentation if `clean`; None if it has none."""
    with _ONE_AT_A_TIME:
        return node.get_docstring(clean=clean)


def string_value(node: cst.SimpleString | cst.ConcatenatedString) -> str | bytes | None:
    """What a string in the source is; None for one with parts that are computed."""
    with _ONE_AT_A_TIME:
        return node.evaluated_value
