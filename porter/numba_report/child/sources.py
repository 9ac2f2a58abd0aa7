"""Where functions and loops of a text end, found by the line that they begin on."""

from __future__ import annotations

import ast
from functools import lru_cache

from porter.source import newer


@lru_cache(maxsize=64)
def _begun(text: str) -> dict[int, tuple[int, int]]:
    """For each line on which something begins, its own first line (of functions: `def`) and last.

    Numba counts a function from its first decorator.
    """
    try:
        tree = newer.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.For, ast.While, ast.With)):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(d.lineno for d in decorators)])
            whole = (node.lineno, node.end_lineno or node.lineno)
            for line in {first, node.lineno}:
                found[line] = max(found.get(line, whole), whole, key=lambda p: p[1])
    return found


def end_of(text: str, line: int) -> int:
    """The last line of what begins on a line; the line itself when nothing does."""
    return _begun(text).get(line, (line, line))[1]


def start_of(text: str, line: int) -> int:
    """The line of the `def` whose first decorator is on a line; else the line itself."""
    return _begun(text).get(line, (line, line))[0]
