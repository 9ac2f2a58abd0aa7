"""Diagnostics as people read them: the message, the source line, and what is meant on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.diagnostics import Diagnostic, Span
from porter.output.changes import Change, changes
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
    notes = [n for n in diagnostic.notes if n.span != diagnostic.span]
    block = _block(diagnostic.span, file)
    marks = [] if block else [_mark(file, diagnostic.span, "^", here)]
    marks += [_mark(file, n.span, "-", n.text) for n in notes]
    fix = changes(file, diagnostic.fix) if file is not None and diagnostic.fix else []
    numbers = [*(m.line for m in marks), *(number for _, number, _ in fix), diagnostic.span.line]
    numbers += [block.end_line] if block else []
    width = len(str(max(file.place(n)[1] if file else n for n in numbers)))
    lines = [
        f"{head}{paint(f': {diagnostic.message}', 'bold', color)}",
        f"{' ' * width}{paint('-->', 'frame', color)} {path}:{line}:{diagnostic.span.column}",
    ]
    drawn = _Frame(file, width, severity, color, block, here) if file is not None else None
    if drawn is not None:
        lines += drawn.rows(marks)
    if diagnostic.help:
        lines.append(f"{paint('help', 'good', color)}: {diagnostic.help}")
    if drawn is not None:
        lines += drawn.changes(fix)
    return "\n".join(lines) + "\n"


def _mark(file: SourceFile | None, span: Span, sign: str, label: str) -> _Mark:
    """A mark; of a span of several lines, the first line."""
    end = span.end_column
    if span.end_line > span.line:
        known = file is not None and 0 < span.line <= len(file.lines)
        end = len(file.lines[span.line - 1]) + 1 if file is not None and known else span.column
    return _Mark(span.line, span.column, max(end, span.column + 1), sign, label)


def _block(span: Span, file: SourceFile | None) -> Span | None:
    """A span of several lines that are all there; it ends on its last character."""
    if file is None or span.end_line == span.line:
        return None
    if span.end_column <= 1 and span.end_line - 1 <= len(file.lines):
        last = span.end_line - 1
        span = replace(span, end_line=last, end_column=len(file.lines[last - 1]) + 1)
    if not 1 <= span.line < span.end_line <= len(file.lines):
        return None
    return span


class _Frame:
    """The source lines of one finding, numbered, with what is marked on them.

    `block` is a finding of several lines: a line at the left runs along it, to carets under
    its last character and the label.
    """

    def __init__(
        self, file: SourceFile, width: int, severity: str, color: bool,
        block: Span | None, label: str,
    ) -> None:  # fmt: skip
        self.file, self.width, self.severity, self.color = file, width, severity, color
        self.block, self.label = block, label

    def rows(self, marks: list[_Mark]) -> list[str]:
        """The marked lines, each with its marks below; `...` where lines are left out."""
        numbers = sorted({*(m.line for m in marks), *self._of_block()})
        numbers = [n for n in numbers if 0 < n <= len(self.file.lines)]
        rows = [self._bar()] if numbers else []
        before = numbers[0] if numbers else 0
        for number in numbers:
            if number == before + 2:
                rows.append(self._line(before + 1, _crop(self._text(before + 1), [])[0]))
            elif number > before + 2:
                rows.append(f"{paint('...', 'frame', self.color)}{self._gap(number)}")
            text, here = _crop(self._text(number), [m for m in marks if m.line == number])
            rows.append(self._line(number, text))
            beside = self._edge(number + 1)
            marked = _marks(text, here, self.severity, self.color)
            rows += [f"{self._bar()} {beside}{m}" for m in marked]
            if self.block is not None and number == self.block.end_line:
                rows.append(self._end(text))
            before = number
        return rows

    def changes(self, fix: list[Change]) -> list[str]:
        """The lines of a fix."""
        rows = [self._bar()] if fix else []
        for sign, number, text in fix:
            shown = f"{sign} {_crop(_visible(text), [])[0]}".rstrip()
            rows.append(f"{self._label(number)} {paint(shown, _SIGNS[sign], self.color)}")
        return rows

    def _of_block(self) -> list[int]:
        if self.block is None:
            return []
        lines = list(range(self.block.line, self.block.end_line + 1))
        return lines if len(lines) <= _LINES else [*lines[: _LINES - 2], *lines[-1:]]

    def _text(self, number: int) -> str:
        return _visible(self.file.lines[number - 1])

    def _line(self, number: int, text: str) -> str:
        bar = paint("|", "frame", self.color)
        return f"{self._label(number)} {bar} {self._edge(number)}{text}".rstrip()

    def _label(self, number: int) -> str:
        return paint(f"{self.file.place(number)[1]:>{self.width}}", "frame", self.color)

    def _bar(self) -> str:
        return f"{' ' * self.width} {paint('|', 'frame', self.color)}"

    def _edge(self, number: int) -> str:
        """What stands between the bar and a line: where it is in the block."""
        if self.block is None:
            return ""
        inside = self.block.line <= number <= self.block.end_line
        if not inside:
            return "  "
        sign = "/" if number == self.block.line else "|"
        return paint(sign, self.severity, self.color) + " "

    def _gap(self, number: int) -> str:
        if self.block is None or not self.block.line < number <= self.block.end_line:
            return ""
        return " " * self.width + paint("|", self.severity, self.color)

    def _end(self, text: str) -> str:
        assert self.block is not None
        under = "_" * _width(text[: max(0, self.block.end_column - 2)])
        sign = f"|_{under}^ {self.label}".rstrip()
        return f"{self._bar()} {paint(sign, self.severity, self.color)}"


_SIGNS = {"-": "gone", "+": "good"}
#: lines of a block that are shown, at most
_LINES = 6


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
