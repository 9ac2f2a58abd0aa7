"""The lines that a fix takes away and those that it puts there."""

from __future__ import annotations

from porter.diagnostics import Edit, Fix
from porter.source.files import SourceFile
from porter.source.text import split_lines

#: `-` or `+`, the number of the line before or after the fix, its text
Change = tuple[str, int, str]


def changes(file: SourceFile, fix: Fix) -> list[Change]:
    """Every line that differs, in the order of the file."""
    found: list[Change] = []
    shift = 0
    for block in _blocks(fix):
        first, last = block[0].span.line, max(e.span.end_line for e in block)
        before = file.lines[first - 1 : last] or [""]
        after = _applied(before, block, first)
        found += _differ(before, after, first, shift)
        shift += len(after) - len(before)
    return found


def _blocks(fix: Fix) -> list[list[Edit]]:
    """The edits by the lines that they share."""
    blocks: list[list[Edit]] = []
    for edit in sorted(fix.edits, key=lambda e: e.span):
        if blocks and edit.span.line <= max(e.span.end_line for e in blocks[-1]):
            blocks[-1].append(edit)
        else:
            blocks.append([edit])
    return blocks


def _applied(lines: list[str], edits: list[Edit], first: int) -> list[str]:
    # from the last on, so that earlier positions stay where they are
    after = list(lines)
    for edit in reversed(edits):
        start, end = edit.span.line - first, edit.span.end_line - first
        head = after[start][: edit.span.column - 1]
        # a span may end where the line after the last one would start
        tail = after[end][edit.span.end_column - 1 :] if end < len(after) else ""
        after[start : end + 1] = split_lines(f"{head}{edit.text}{tail}\n")
    return after


def _differ(before: list[str], after: list[str], first: int, shift: int) -> list[Change]:
    while before and after and before[0] == after[0]:
        before, after, first = before[1:], after[1:], first + 1
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    gone = [("-", first + n, line) for n, line in enumerate(before)]
    return gone + [("+", first + shift + n, line) for n, line in enumerate(after)]
