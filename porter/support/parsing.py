"""Python's parser for several threads.

CPython counts the depth of the tree that it builds in one place for all threads before 3.11.8:
two that parse at once may meet `SystemError: AST constructor recursion depth mismatch`
(https://github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading
from typing import Any

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
