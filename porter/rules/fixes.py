"""Applies the fixes of diagnostics to a text."""

from __future__ import annotations

from collections.abc import Iterable

from porter.diagnostics import Diagnostic, Fix
from porter.source.files import SourceFile


def apply_fixes(
    source: SourceFile, diagnostics: Iterable[Diagnostic], unsafe: bool = False
) -> tuple[str, int]:
    """The text with every fix applied that overlaps no other, and how many those were.

    Unsafe fixes only with `unsafe`.  Notebooks are left alone: their text is not the file's.
    """
    fixes = [d.fix for d in diagnostics if d.fix is not None and (d.fix.safe or unsafe)]
    if source.cells or not fixes:
        return source.text, 0
    starts = _line_starts(source.text)
    placed = sorted({_offsets(f, starts) for f in fixes})
    out, at, count = "", 0, 0
    for start, end, text in placed:
        if start >= at:
            out += source.text[at:start] + text
            at, count = end, count + 1
    return out + source.text[at:], count


def _offsets(fix: Fix, starts: list[int]) -> tuple[int, int, str]:
    span = fix.span
    start = starts[span.line - 1] + span.column - 1
    return start, starts[span.end_line - 1] + span.end_column - 1, fix.text


def _line_starts(text: str) -> list[int]:
    starts, at = [0], 0
    while at < len(text):
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            at += 1
        if text[at] in "\r\n":
            starts.append(at + 1)
        at += 1
    return starts
