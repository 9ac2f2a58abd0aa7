"""Code that is nested too deeply to be followed, found before any parser recurses into it.

libcst's parser takes its stack and, for each further level, time from the process: a file of
200 brackets ends it, one of 3,000 operators takes it seconds.  So Python's own parser, which
counts, goes first, and what is too deep is blanked in the text that libcst is given: the other
functions of the file keep their lines and are converted.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from porter.diagnostics import Diagnostic, Span
from porter.source import newer

#: statements and expressions within one another, `elif` after `elif` among them
MOST_LEVELS = 800

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LINE_END = re.compile(r"(\r\n|\r|\n)")


@dataclass(frozen=True)
class TooDeep:
    """A function (or, with no name, another statement) that is nested too deeply, and where."""

    name: str
    levels: int
    span: Span

    def diagnostic(self, path: str) -> Diagnostic:
        """What is said of it."""
        shown = f"`{self.name}`" if self.name else "this statement"
        return Diagnostic(
            "PRT902", "unsupported-syntax",
            f"{shown} is nested {self.levels} levels deep; the limit is {MOST_LEVELS}",
            self.span, path, function=self.name,
            help="split it into variables or separate functions",
        )  # fmt: skip


def parsed(text: str) -> tuple[ast.Module, str]:
    """The tree of a text, by Python's own parser, and the text of that tree, in which newer
    syntax is lowered. Raises SyntaxError.

    To be called with a large stack: this parser gives up at a depth that grows with the limit
    of recursion.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return newer.read(text)
    except (RecursionError, MemoryError):
        raise SyntaxError("nested too deeply for Python's parser", ("", 1, 1, "")) from None
    except ValueError as error:  # such as an integer of too many digits
        raise SyntaxError(str(error), ("", 1, 1, "")) from None


def without_deep(text: str) -> tuple[str, tuple[TooDeep, ...]]:
    """The text with a stub for each function that is too deep; all lines keep their numbers.

    Raises SyntaxError.
    """
    tree, text = parsed(text)
    found = list(_found(tree.body, ""))
    if not found:
        return text, ()
    parts = _LINE_END.split(text)
    lines = parts[::2]
    for node, _ in found:
        _blank(lines, node)
    parts[::2] = lines
    return "".join(parts), tuple(deep for _, deep in found)


def _found(body: list[ast.stmt], prefix: str) -> Iterator[tuple[ast.stmt, TooDeep]]:
    for node in body:
        levels, line, column = _depth(node)
        if levels <= MOST_LEVELS:
            continue
        if isinstance(node, ast.ClassDef):
            inner = list(_found(node.body, f"{prefix}{node.name}."))
            if inner:
                yield from inner
                continue
        name = f"{prefix}{node.name}" if isinstance(node, _DEFINITIONS) else ""
        yield node, TooDeep(name, levels, Span(line, column + 1, line, column + 2))


def _depth(top: ast.stmt) -> tuple[int, int, int]:
    """How deep a statement is nested, and the line and column of the innermost part."""
    deepest, line, column = 0, top.lineno, top.col_offset
    stack: list[tuple[ast.AST, int, ast.AST]] = [(top, 0, top)]
    while stack:
        node, level, statement = stack.pop()
        if isinstance(node, (ast.expr, ast.stmt)):
            level += 1
            statement = node if isinstance(node, ast.stmt) else statement
        if level > deepest:
            deepest = level
            line, column = statement.lineno, statement.col_offset  # type: ignore[attr-defined]
        stack += [(child, level, statement) for child in ast.iter_child_nodes(node)]
    return deepest, line, column


def _blank(lines: list[str], node: ast.stmt) -> None:
    """Put a stub in place of a statement."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    last = node.end_lineno or node.lineno
    own = lines[node.lineno - 1]
    indent = own[: len(own) - len(own.lstrip())]
    stub = f"{indent}def {node.name}(): ..." if isinstance(node, _DEFINITIONS) else f"{indent}pass"
    above, below = node.lineno - first, last - node.lineno
    lines[first - 1 : last] = [""] * above + [stub] + [""] * below
