"""Diagnostics as people read them: the message, the source line, and what is meant on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.diagnostics import Diagnostic, Span
from porter.output.changes import changes
from porter.output.color import paint
from porter.source.files import SourceFile

#: of longer lines a part is shown, with this much of what stands before the mark
_LONG, _BEFORE = 160, 40
#: a terminal would obey control characters, and the marks of the direction of writing
#: would reorder the line: pictures of them stand in their place
_PICTURES = {
    **{n: 0x2400 + n for n in range(0x20) if n != 0x09},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


@dataclass(frozen=True)
class _Mark:
    """What is underlined on a line: columns from 1, the end exclusive."""

    line: int
    start: int
    end: int
    sign: str
    label: str


def full(diagnostics: Iterable[Diagnostic], files: Mapping[str, SourceFile], color: bool) -> str:
    """Every diagnostic with its source frame, a blank line after each."""
    return "".join(f"{frame(d, files.get(d.path), color)}\n" for d in diagnostics)


def concise(diagnostics: Iterable[Diagnostic], files: Mapping[str, SourceFile]) -> str:
    """One `path:line:column: CODE message` line for each diagnostic."""
    return "".join(f"{concise_line(d, files.get(d.path))}\n" for d in diagnostics)


def concise_line(diagnostic: Diagnostic, file: SourceFile | None) -> str:
    """`path:line:column: CODE message`; in a notebook the path names the cell."""
    path, line = _place(diagnostic, file)
    return f"{path}:{line}:{diagnostic.span.column}: {diagnostic.code} {diagnostic.message}"


def _place(diagnostic: Diagnostic, file: SourceFile | None) -> tuple[str, int]:
    if file is None:
        return diagnostic.path, diagnostic.span.line
    return file.place(diagnostic.span.line)


def frame(diagnostic: Diagnostic, file: SourceFile | None, color: bool = False) -> str:
    """One diagnostic: heading, place, marked source lines, help, the lines of the fix."""
    severity = diagnostic.severity.value
    head = paint(f"{severity}[{diagnostic.code}]", severity, color)
    path, line = _place(diagnostic, file)
    # a note on the very place of the finding is written beside the carets
    here = ", ".join(n.text for n in diagnostic.notes if n.span == diagnostic.span)
    marks = [_mark(file, diagnostic.span, "^", here)]
    marks += [
        _mark(file, n.span, "-", n.text) for n in diagnostic.notes if n.span != diagnostic.span
    ]
    fix = changes(file, diagnostic.fix) if file is not None and diagnostic.fix else []
    numbers = [*(m.line for m in marks), *(number for _, number, _ in fix)]
    width = len(str(max(file.place(n)[1] if file else n for n in numbers)))
    rows = _rows(file, marks, width, severity, color)
    lines = [
        f"{head}{paint(f': {diagnostic.message}', 'bold', color)}",
        f"{' ' * width}{paint('-->', 'frame', color)} {path}:{line}:{diagnostic.span.column}",
        *rows,
    ]
    if diagnostic.help:
        lines.append(f"{paint('help', 'good', color)}: {diagnostic.help}")
    if fix and file is not None:
        lines.append(_bar(width, color))
    for sign, number, text in fix if file is not None else ():
        shown = _crop(_visible(text), [])[0]
        label = paint(f"{file.place(number)[1]:>{width}}", "frame", color) if file else ""
        lines.append(f"{label} {paint(f'{sign} {shown}'.rstrip(), _SIGNS[sign], color)}")
    return "\n".join(lines) + "\n"


_SIGNS = {"-": "gone", "+": "good"}


def _mark(file: SourceFile | None, span: Span, sign: str, label: str) -> _Mark:
    """A mark; of a span of several lines, the first line."""
    end = span.end_column
    if span.end_line > span.line:
        known = file is not None and 0 < span.line <= len(file.lines)
        end = len(file.lines[span.line - 1]) + 1 if file is not None and known else span.column
    return _Mark(span.line, span.column, max(end, span.column + 1), sign, label)


def _bar(width: int, color: bool) -> str:
    return f"{' ' * width} {paint('|', 'frame', color)}"


def _rows(
    file: SourceFile | None, marks: list[_Mark], width: int, severity: str, color: bool
) -> list[str]:
    """The marked lines, each with its marks below; `...` where lines are left out."""
    if file is None or not any(0 < m.line <= len(file.lines) for m in marks):
        return []
    numbers = sorted({m.line for m in marks if 0 < m.line <= len(file.lines)})
    rows = [_bar(width, color)]
    before = numbers[0]
    for number in numbers:
        if number == before + 2:
            rows.append(_line(file, before + 1, file.lines[before], width, color))
        elif number > before + 2:
            rows.append(paint("...", "frame", color))
        text, here = _crop(_visible(file.lines[number - 1]), [m for m in marks if m.line == number])
        rows.append(_line(file, number, text, width, color))
        rows += [f"{_bar(width, color)} {m}" for m in _marks(text, here, severity, color)]
        before = number
    return rows


def _line(file: SourceFile, number: int, text: str, width: int, color: bool) -> str:
    label = paint(f"{file.place(number)[1]:>{width}}", "frame", color)
    return f"{label} {paint('|', 'frame', color)} {_visible(text)}".rstrip()


def _visible(text: str) -> str:
    """The text without what a terminal would act on, character for character."""
    return text.translate(_PICTURES)


def _crop(text: str, marks: list[_Mark]) -> tuple[str, list[_Mark]]:
    """Of a long line the part around its first mark, and the marks where they are then."""
    if len(text) <= _LONG:
        return text, marks
    first = min((m.start for m in marks), default=1)
    within = max((m.end for m in marks), default=1) <= _LONG
    left = 0 if within else max(0, first - 1 - _BEFORE)
    shown = "…" * (left > 0) + text[left : left + _LONG] + "…" * (left + _LONG < len(text))
    shift, last = max(0, left - 1), len(shown)
    moved = [
        replace(m, start=min(m.start - shift, last), end=min(m.end - shift, last + 1))
        for m in marks
    ]
    return shown, moved


def _marks(text: str, marks: Sequence[_Mark], severity: str, color: bool) -> list[str]:
    """Underlines of one line: all that fit side by side in one row, labelled at its end."""
    rows: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda m: m.start):
        # a label runs to the end of the row, and marks must not overlap
        for row in rows:
            if not row[-1].label and row[-1].end <= mark.start:
                row.append(mark)
                break
        else:
            rows.append([mark])
    return [_row(text, row, severity, color) for row in rows]


def _row(text: str, marks: list[_Mark], severity: str, color: bool) -> str:
    out, at = "", 1
    for mark in marks:
        out += _blank(text[at - 1 : mark.start - 1])
        under = mark.sign * max(1, _width(text[mark.start - 1 : mark.end - 1]))
        style = severity if mark.sign == "^" else "frame"
        out += paint(f"{under} {mark.label}" if mark.label else under, style, color)
        at = mark.end
    return out


def _width(text: str) -> int:
    return sum(_columns(c) for c in text)


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _blank(text: str) -> str:
    """Blanks as wide as a text; tabs stay, since the terminal decides their width."""
    return "".join("\t" if c == "\t" else " " * _columns(c) for c in text)
