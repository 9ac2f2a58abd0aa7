"""`# porter: ignore[PRT203]` and `# noqa: PRT203`: what each suppresses, and what it did not."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porter.diagnostics import Diagnostic, Severity, Span

_PORTER = re.compile(r"#\s*porter:\s*ignore(?:\[([^\]]*)\])?", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa:\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+\d*", re.IGNORECASE)
_SKIPPED = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@dataclass
class Ignore:
    """One code of one comment, and the lines that it speaks of; `code` may be a prefix."""

    code: str
    span: Span
    first: int = 0
    last: int = 0
    reported: bool = True
    used: bool = field(default=False)

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether the comment suppresses a diagnostic."""
        here = self.first <= diagnostic.span.line <= self.last
        return here and diagnostic.code.startswith(self.code)


def ignores(text: str) -> list[Ignore]:
    """Every suppression in a file that Python can parse."""
    lowered = text.lower()
    if "porter:" not in lowered and "noqa:" not in lowered:
        return []
    found: list[Ignore] = []
    for comments, first, last in _groups(text):
        for comment in comments:
            for one in _parse(comment):
                one.first, one.last = first, last
                found.append(one)
    return found


def _parse(token: tokenize.TokenInfo) -> Iterator[Ignore]:
    line, offset = token.start
    match = _PORTER.search(token.string)
    if match:
        start = offset + match.start(1) if match[1] is not None else offset
        if match[1] is None:
            yield Ignore("PRT", Span(line, offset + 1, line, token.end[1] + 1))
        for code in _CODE.finditer(match[1] or ""):
            at = start + code.start() + 1
            yield Ignore(code[0].upper(), Span(line, at, line, at + len(code[0])))
    match = _NOQA.search(token.string)
    if match:
        for code in _CODE.finditer(match[1]):
            yield Ignore(code[0].upper(), Span(line, 1, line, 1), reported=False)


def _groups(text: str) -> Iterator[tuple[list[tokenize.TokenInfo], int, int]]:
    """Comments with the statement that they belong to: the one they stand in or above.

    The decorators of a function and its `def` line count as one statement.
    """
    comments: list[tokenize.TokenInfo] = []
    first, decorated, begun = 0, False, False
    last_line = 1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        last_line = token.end[0]
        if token.type == tokenize.COMMENT:
            comments.append(token)
        elif token.type == tokenize.NEWLINE:
            if not decorated:
                yield comments, first, token.start[0]
                comments, first = [], 0
            decorated, begun = False, False
        elif token.type not in _SKIPPED and not begun:
            begun = True
            first = first or token.start[0]
            decorated = token.string == "@"
    yield comments, first, last_line


def suppress(found: Iterable[Diagnostic], comments: list[Ignore]) -> list[Diagnostic]:
    """The diagnostics that no comment suppresses; marks the comments that did."""
    kept = []
    for diagnostic in found:
        matching = [c for c in comments if c.covers(diagnostic)]
        for comment in matching:
            comment.used = True
        if not matching:
            kept.append(diagnostic)
    return kept


def unused(comments: list[Ignore], path: str, known: Iterable[str]) -> Iterator[Diagnostic]:
    """PRT910 for each code of a porter comment that suppressed nothing."""
    codes = tuple(known)
    for comment in comments:
        if comment.used or not comment.reported:
            continue
        if any(c.startswith(comment.code) for c in codes):
            message = f"{comment.code} is not found here, so there is nothing to ignore"
        else:
            message = f"porter has no rule {comment.code}"
        yield Diagnostic(
            code="PRT910",
            name="unused-suppression",
            message=message,
            span=comment.span,
            path=path,
            severity=Severity.WARNING,
            help="delete the code from the comment",
        )
