"""`# porter: ignore[PRT203]` and `# noqa: PRT203`: what each suppresses, and what it did not."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from porter.diagnostics import Diagnostic, Fix, Span
from porter.rules.base import NumbaRule, Rule
from porter.rules.converter.unused_suppression import UnusedSuppression
from porter.source import newer

PORTER = re.compile(r"#\s*porter:\s*ignore(?:\[([^\]]*)\])?", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa:\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+\d*", re.IGNORECASE)
_SKIPPED = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@dataclass
class Comment:
    """A `# porter: ignore` and its codes; `stretch` is what goes when none of them is left."""

    stretch: Span
    brackets: Span | None
    codes: list[Ignore] = field(default_factory=list)

    def fix(self) -> Fix:
        """The fix that leaves the codes that were used."""
        used = [c.code for c in self.codes if c.used]
        if used and self.brackets is not None:
            return Fix(self.brackets, ", ".join(dict.fromkeys(used)))
        return Fix(self.stretch, "")


@dataclass
class Ignore:
    """One code of one comment, and the lines that it speaks of; `code` may be a prefix."""

    code: str
    span: Span
    first: int = 0
    last: int = 0
    reported: bool = True
    used: bool = field(default=False)
    comment: Comment | None = None

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
    match = PORTER.search(token.string)
    if match:
        comment = Comment(_stretch(token, match), None)
        start = offset + match.start(1) if match[1] is not None else offset
        if match[1] is None:
            whole = Span(line, offset + 1, line, token.end[1] + 1)
            comment.codes.append(Ignore("PRT", whole, comment=comment))
        else:
            comment.brackets = Span(line, start + 1, line, start + len(match[1]) + 1)
        for code in _CODE.finditer(match[1] or ""):
            at = start + code.start() + 1
            span = Span(line, at, line, at + len(code[0]))
            comment.codes.append(Ignore(code[0].upper(), span, comment=comment))
        yield from comment.codes
    match = _NOQA.search(token.string)
    if match:
        for code in _CODE.finditer(match[1]):
            yield Ignore(code[0].upper(), Span(line, 1, line, 1), reported=False)


def _stretch(token: tokenize.TokenInfo, match: re.Match[str]) -> Span:
    """From the blanks before a comment to the next `#` in it; a line of its own goes as well."""
    line, offset = token.start
    after = token.string.find("#", match.end())
    before = token.line[: offset + match.start()]
    if after >= 0:
        return Span(line, len(before) + 1, line, offset + after + 1)
    if before.strip():
        return Span(line, len(before.rstrip()) + 1, line, token.end[1] + 1)
    return (
        Span(line, 1, line + 1, 1)
        if token.line.endswith("\n")
        else Span(line, 1, line, token.end[1] + 1)
    )


def _groups(text: str) -> Iterator[tuple[list[tokenize.TokenInfo], int, int]]:
    """Comments with the statement that they belong to: the one they stand in or above.

    The decorators of a function and its `def` line count as one statement.
    """
    comments: list[tokenize.TokenInfo] = []
    first, decorated, begun = 0, False, False
    last_line = 1
    for token in tokenize.generate_tokens(io.StringIO(newer.plain(text)).readline):
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


def unused(
    comments: list[Ignore], path: str, known: Mapping[str, type[Rule]]
) -> Iterator[Diagnostic]:
    """PRT910 for each code of a porter comment that suppressed nothing."""
    for comment in comments:
        if comment.used or not comment.reported:
            continue
        rule = known.get(comment.code)
        if rule is not None and issubclass(rule, NumbaRule):
            # such a finding is there only when Numba is asked
            continue
        if any(c.startswith(comment.code) for c in known):
            message = f"{comment.code} is not reported here, so this comment has no effect"
        else:
            message = f"porter has no rule {comment.code}"
        help = "delete the code from the comment"
        found = UnusedSuppression.at(path, comment.span, message, help)
        yield replace(found, fix=comment.comment.fix() if comment.comment else None)
