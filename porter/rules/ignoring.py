"""The comments that `--add-ignore` writes: one at the line of every finding."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable

from porter.diagnostics import Diagnostic, Edit, Span
from porter.rules.suppress import PORTER
from porter.source import newer
from porter.source.files import SourceFile

#: findings that are about the comments, or that leave no line to comment on
_NEVER = ("PRT900", "PRT910")


def ignore_edits(source: SourceFile, diagnostics: Iterable[Diagnostic]) -> list[Edit]:
    """The edits that write a comment with its code to the line of each finding."""
    wanted: dict[int, set[str]] = {}
    try:
        ends = _line_ends(source.text)
    except (tokenize.TokenError, SyntaxError):
        return []
    for diagnostic in diagnostics:
        # inside a string and before a backslash there is no place: where the line goes on
        line = min((n for n in ends if n >= diagnostic.span.line), default=None)
        if line is not None and diagnostic.code not in _NEVER and source.may_change(line, line):
            wanted.setdefault(line, set()).add(diagnostic.code)
    return [_edit(line, codes, *ends[line]) for line, codes in sorted(wanted.items())]


def _line_ends(text: str) -> dict[int, tuple[int, tokenize.TokenInfo | None, int]]:
    """For each line that can take a comment: where its code ends, its comment, where that ends."""
    found: dict[int, tuple[int, tokenize.TokenInfo | None, int]] = {}
    comment = None
    for token in tokenize.generate_tokens(io.StringIO(newer.plain(text)).readline):
        if token.type == tokenize.COMMENT:
            comment = token
        elif token.type in (tokenize.NEWLINE, tokenize.NL):
            line, end = token.start
            code = token.line.splitlines()[-1] if token.line else ""
            found[line] = (len(code[:end].rstrip()), comment, end)
            comment = None
    return found


def _edit(
    line: int, codes: set[str], end: int, comment: tokenize.TokenInfo | None, newline: int
) -> Edit:
    text = ", ".join(sorted(codes))
    match = PORTER.search(comment.string) if comment is not None else None
    if comment is not None and match is not None and match[1] is not None:
        at = comment.start[1] + match.end(1) + 1
        return Edit(Span(line, at, line, at), f", {text}" if match[1].strip() else text)
    return Edit(Span(line, end + 1, line, newline + 1), f"  # porter: ignore[{text}]")
