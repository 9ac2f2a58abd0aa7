"""Generated lines, laid out as `ruff format` would print them.

ruff is not needed at run time: `porter.codegen.style` has the rules for the statements that
generated modules contain.  Blank lines, the order of imports and the text of comments and
docstrings are the caller's business, the two blank lines between definitions included.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from porter.codegen.style import statements
from porter.codegen.style.doc import Doc
from porter.codegen.style.facts import Unsupported
from porter.codegen.style.printer import Printer

_BLOCK = re.compile(r"(if|elif|while|for|def)\b")
_DOCSTRING = re.compile(r"[rRuUbBfF]{0,2}(\"\"\"|''')")


def format_lines(lines: Sequence[str], width: int = 88) -> list[str]:
    """Lays out each statement so that no line is longer than `width` columns where possible.

    `lines` are without line ends, indented by multiples of four blanks, one statement or
    block header on each, however long.  Blank lines, docstrings (over several lines too) and
    statements of other kinds than those of a generated module (`with`, `lambda`,
    implicitly joined strings, ...) are returned as they are.
    """
    result: list[str] = []
    remaining = iter(lines)
    for line in remaining:
        result += (
            _docstring(line, remaining) or _several(line, remaining) or format_line(line, width)
        )
    return result


# the same helpers stand in most modules
@lru_cache(maxsize=4096)
def format_line(line: str, width: int = 88) -> tuple[str, ...]:
    """The lines that one statement, block header, decorator or comment becomes."""
    text = line.strip()
    if not text:
        return ("",)
    if text.startswith("#"):
        return (line[: line.index("#")] + statements.comment_text(text),)
    try:
        doc = _document(text)
    except (cst.ParserSyntaxError, Unsupported):
        return (line.rstrip(),)
    indent = len(line) - len(line.lstrip())
    return tuple(Printer(width, indent).print(doc, indent))


def _docstring(line: str, remaining: Iterator[str]) -> list[str]:
    """The lines of a docstring that starts on `line`, taken as they are; else nothing."""
    start = _DOCSTRING.match(line.strip())
    if start is None:
        return []
    quotes, found = start[1], [line]
    rest = line.strip()[start.end() :]
    while quotes not in rest:
        following = next(remaining, None)
        if following is None:
            break
        found.append(following)
        rest = following
    return found


def _several(line: str, remaining: Iterator[str]) -> list[str]:
    """The lines of a statement that has several, taken as they are; else nothing."""
    found = [line]
    while _is_open("\n".join(found)) and (following := next(remaining, None)) is not None:
        found.append(following)
    return found if len(found) > 1 else []


def _is_open(text: str) -> bool:
    """Whether a bracket is open at the end."""
    if sum(map(text.count, "([{")) == sum(map(text.count, ")]}")):
        return False
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return False


def _document(text: str) -> Doc:
    if text.startswith("@"):
        function = cst.parse_statement(f"{text}\ndef f(): pass\n")
        assert isinstance(function, cst.FunctionDef)
        comment = function.decorators[0].trailing_whitespace.comment
        return (statements.decorator(function.decorators[0]), statements.comment_suffix(comment))
    keyword = _BLOCK.match(text)
    if keyword is not None:
        return _block(text, keyword[1])
    statement = cst.parse_statement(text + "\n")
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        raise Unsupported("several statements on a line")
    comment = statement.trailing_whitespace.comment
    return statements.simple(statement.body[0], statements.comment_suffix(comment))


def _block(text: str, keyword: str) -> Doc:
    elif_ = keyword == "elif"
    statement = cst.parse_statement((text[2:] if elif_ else text) + "\n    pass\n")
    if not isinstance(statement, cst.BaseCompoundStatement):
        raise Unsupported("a block")
    body = statement.body
    if not isinstance(body, cst.IndentedBlock):
        raise Unsupported("a block on one line")
    header = statements.header(statement)
    return ("el" if elif_ else "", header, statements.comment_suffix(body.header.comment))
