"""Diagnostics as people read them: the message, the source line, and what is meant on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from porter.diagnostics import Diagnostic, Span
from porter.output.color import paint
from porter.source.files import SourceFile


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
    """One diagnostic: heading, place, marked source lines, help."""
    severity = diagnostic.severity.value
    head = paint(f"{severity}[{diagnostic.code}]", severity, color)
    path, line = _place(diagnostic, file)
    marks = [(diagnostic.span, "^", "")]
    marks += [(n.span, "-", n.text) for n in diagnostic.notes]
    rows = _rows(file, marks, severity, color)
    shift = len(str(max((file.place(s.line)[1] if file else s.line) for s, _, _ in marks)))
    arrow = " " * shift + paint("-->", "frame", color)
    lines = [
        f"{head}{paint(f': {diagnostic.message}', 'bold', color)}",
        f"{arrow} {path}:{line}:{diagnostic.span.column}",
        *rows,
    ]
    if diagnostic.help:
        lines.append(f"{paint('help', 'good', color)}: {diagnostic.help}")
    return "\n".join(lines) + "\n"


def _rows(
    file: SourceFile | None, marks: list[tuple[Span, str, str]], severity: str, color: bool
) -> list[str]:
    """The marked lines, each with its marks below; `...` where lines are left out."""
    if file is None or not any(0 < s.line <= len(file.lines) for s, _, _ in marks):
        return []
    numbers = sorted({s.line for s, _, _ in marks if 0 < s.line <= len(file.lines)})
    shown = {n: file.place(n)[1] for n in numbers}
    width = len(str(max(shown.values())))
    bar = paint("|", "frame", color)
    rows = [f"{' ' * width} {bar}"]
    before = None
    for number in numbers:
        if before is not None and number > before + 1:
            rows.append(paint("...", "frame", color))
        text = file.lines[number - 1]
        label = paint(f"{shown[number]:>{width}}", "frame", color)
        rows.append(f"{label} {bar} {text}".rstrip())
        here = [m for m in marks if m[0].line == number]
        rows += [f"{' ' * width} {bar} {m}" for m in _marks(text, here, severity, color)]
        before = number
    return rows


def _marks(text: str, marks: list[tuple[Span, str, str]], severity: str, color: bool) -> list[str]:
    """Underlines of one line: all that fit side by side in one row, labelled at its end."""
    rows: list[list[tuple[Span, str, str]]] = []
    for mark in sorted(marks, key=lambda m: m[0].column):
        # a label runs to the end of the row, and marks must not overlap
        for row in rows:
            if not row[-1][2] and _end(text, row[-1][0]) <= mark[0].column:
                row.append(mark)
                break
        else:
            rows.append([mark])
    return [_row(text, row, severity, color) for row in rows]


def _row(text: str, marks: list[tuple[Span, str, str]], severity: str, color: bool) -> str:
    out, at = "", 1
    for span, sign, label in marks:
        end = _end(text, span)
        out += _blank(text[at - 1 : span.column - 1])
        under = sign * max(1, _width(text[span.column - 1 : end - 1]))
        style = severity if sign == "^" else "frame"
        out += paint(f"{under} {label}" if label else under, style, color)
        at = end
    return out


def _end(text: str, span: Span) -> int:
    """The column after a mark: of a span of several lines, the end of the first."""
    end = span.end_column if span.end_line == span.line else len(text) + 1
    return max(end, span.column + 1)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _blank(text: str) -> str:
    """Blanks as wide as a text; tabs stay, since the terminal decides their width."""
    return "".join("\t" if c == "\t" else " " * _width(c) for c in text)
