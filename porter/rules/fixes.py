"""Applies the fixes of diagnostics to a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from porter.diagnostics import Diagnostic, Edit
from porter.source.files import SourceFile
from porter.source.notebook import edit_notebook

#: offsets of the replaced text, and the new text
Placed = tuple[int, int, str]


def apply_fixes(
    source: SourceFile, diagnostics: Iterable[Diagnostic], unsafe: bool = False
) -> tuple[str, int]:
    """The text with every fix applied that overlaps no other, and how many those were.

    Unsafe fixes only with `unsafe`.  A notebook's text is its JSON.
    """
    edits, count = chosen_edits(source, diagnostics, unsafe)
    return edited(source, edits), count


def chosen_edits(
    source: SourceFile, diagnostics: Iterable[Diagnostic], unsafe: bool = False
) -> tuple[list[Edit], int]:
    """The edits of every fix that overlaps no other, and how many fixes those are."""
    fixes = [d.fix for d in diagnostics if d.fix is not None and (d.fix.safe or unsafe)]
    starts = _line_starts(source.text)
    placed: list[Placed] = []
    chosen: list[Edit] = []
    count = 0
    for fix in sorted(dict.fromkeys(fixes), key=lambda f: f.span):
        edits = [_offsets(e, starts) for e in fix.edits]
        # two fixes may ask for the same import, but not for two texts at one place
        new = [e for e in edits if e not in placed]
        if not all(source.may_change(e.span.line, e.span.end_line) for e in fix.edits):
            continue
        if edits[0] in new and not any(_overlap(e, p) for e in new for p in placed):
            placed += new
            chosen += [e for e in fix.edits if _offsets(e, starts) in new]
            count += 1
    return chosen, count


def edited(source: SourceFile, edits: Sequence[Edit]) -> str:
    """The text of the file (of a notebook its JSON) after edits that do not overlap."""
    if source.notebook:
        return edit_notebook(source.notebook, source.cells, edits, replaced)
    return replaced(source.text, edits)


def replaced(text: str, edits: Iterable[Edit]) -> str:
    """A text after edits that do not overlap."""
    starts = _line_starts(text)
    return _replaced(text, [_offsets(e, starts) for e in edits])


def _replaced(text: str, placed: list[Placed]) -> str:
    # fixes are written with plain line ends; the file keeps its own
    newline = "\r\n" if "\r\n" in text else "\n"
    out, at = "", 0
    # stable: what is inserted at one place keeps the order of the fixes
    for start, end, new in sorted(placed, key=lambda p: p[:2]):
        out += text[at:start] + new.replace("\r\n", "\n").replace("\n", newline)
        at = end
    return out + text[at:]


def _overlap(one: Placed, other: Placed) -> bool:
    first, second = sorted((one, other))
    return second[0] < first[1]


def _offsets(edit: Edit, starts: list[int]) -> Placed:
    span = edit.span
    start = starts[span.line - 1] + span.column - 1
    return start, starts[span.end_line - 1] + span.end_column - 1, edit.text


def _line_starts(text: str) -> list[int]:
    starts, at = [0], 0
    while at < len(text):
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            at += 1
        if text[at] in "\r\n":
            starts.append(at + 1)
        at += 1
    return starts
