"""Findings as a terminal shows them."""

from __future__ import annotations

import io
import re

import pytest

from porter.diagnostics import Diagnostic, Edit, Fix, Note, Span
from porter.output.analysis import summary
from porter.output.changes import changes
from porter.output.color import wants_color
from porter.output.frames import frame
from porter.source.files import SourceFile

ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def shown(text: str, span: Span, *notes: Note, fix: Fix | None = None) -> list[str]:
    """What stands below the heading and the place."""
    found = Diagnostic("PRT301", "n", "m", span, "a.py", help="h", notes=notes, fix=fix)
    plain = frame(found, SourceFile("a.py", text))
    assert ESCAPE.sub("", frame(found, SourceFile("a.py", text), color=True)) == plain
    return plain.splitlines()[2:]


def test_a_fix_is_shown_line_by_line() -> None:
    text = "def f(x, t, b):\n    k[t, b](x)\n    return x\n"
    fix = Fix(Span(2, 7, 2, 11), "b, t")
    assert shown(text, Span(2, 7, 2, 8), fix=fix) == [
        "  |",
        "2 |     k[t, b](x)",
        "  |       ^",
        "help: h",
        "  |",
        "2 -     k[t, b](x)",
        "2 +     k[b, t](x)",
    ]


def test_changes_of_a_fix() -> None:
    file = SourceFile("a.py", "import numpy\n\n\ndef f(x):\n    y = a(x) + a(x)\n    return y")

    def of(*edits: Edit) -> list[tuple[str, int, str]]:
        first, *rest = edits
        return changes(file, Fix(first.span, first.text, True, tuple(rest)))

    # an import that is inserted, and two edits of one line
    assert of(
        Edit(Span(5, 9, 5, 10), "math.b"),
        Edit(Span(5, 16, 5, 17), "math.b"),
        Edit(Span(1, 1, 1, 1), "import math\n"),
    ) == [
        ("+", 1, "import math"),
        ("-", 5, "    y = a(x) + a(x)"),
        ("+", 6, "    y = math.b(x) + math.b(x)"),
    ]
    # a line that goes, the last one too
    assert of(Edit(Span(5, 1, 6, 1), "")) == [("-", 5, "    y = a(x) + a(x)")]
    assert of(Edit(Span(5, 20, 6, 13), "")) == [("-", 6, "    return y")]
    # a line after the last
    assert of(Edit(Span(6, 13, 6, 13), "\n\n\nf(1)"))[-1] == ("+", 9, "f(1)")
    assert of(Edit(Span(7, 1, 7, 1), "f(1)\n")) == [("+", 7, "f(1)")]


def test_a_note_on_the_same_place_stands_beside_the_carets() -> None:
    span = Span(1, 1, 1, 5)
    assert shown("x[i] = x[i]", span, Note(span, "read here"))[2] == "  | ^^^^ read here"


def test_one_line_between_two_marks_is_shown() -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    rows = shown(text, Span(3, 1, 3, 2), Note(Span(1, 1, 1, 2), "here"))
    assert rows[:6] == ["  |", "1 | a = 1", "  | - here", "2 | b = 2", "3 | c = 3", "  | ^"]


def test_a_long_line_is_cut_around_its_mark() -> None:
    text = "x = [" + "1, " * 400 + "bad" + ", 2" * 400 + "]"
    at = text.index("bad") + 1
    _, line, marks, *_ = shown(text, Span(1, at, 1, at + 3))
    assert len(line) < 180 and line.startswith("1 | …") and line.endswith("…")
    assert line[marks.index("^") : marks.rindex("^") + 1] == "bad"
    _, line, marks, *_ = shown(text, Span(1, 1, 1, 2), Note(Span(1, at, 1, at + 3), "far off"))
    assert line.startswith("1 | x = [") and "far off" in marks


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x07", "\u202e", "\u2066", "\x7f"])
def test_a_terminal_is_told_nothing_by_the_source(character: str) -> None:
    rows = shown(f"x = '{character}[31m' + y", Span(1, 15, 1, 16))
    assert character not in "".join(rows)
    assert rows[1][rows[2].index("^")] == "y"


def test_marks_line_up_under_accents_that_take_no_column() -> None:
    rows = shown("s = 'e\u0301' + y", Span(1, 12, 1, 13))
    assert rows[2] == "  | " + " " * 10 + "^"


@pytest.mark.parametrize(
    ("settings", "tty", "wanted"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_to_colour(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], tty: bool, wanted: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: tty)
    assert wants_color(stream) is wanted


def test_the_summary_says_what_can_be_fixed() -> None:
    def found(*safe: bool | None) -> list[Diagnostic]:
        span = Span(1, 1, 1, 2)
        return [
            Diagnostic("P", "n", "m", span, fix=None if s is None else Fix(span, "", s))
            for s in safe
        ]

    assert summary(found(None), []) == "1 error; no functions"
    assert summary(found(True, None), []) == "2 errors (1 fixable with --fix); no functions"
    assert summary(found(False), []) == "1 error (1 fixable with --unsafe-fixes); no functions"
    both = "(1 fixable with --fix, 1 with --unsafe-fixes)"
    assert both in summary(found(True, False), [])


def test_a_finding_of_several_lines_has_a_line_along_it() -> None:
    text = "def f(x, w):\n    y = x\n    return (\n        w\n        / y\n    )\n"
    assert shown(text, Span(3, 5, 6, 6), Note(Span(5, 11, 5, 12), "made here")) == [
        "  |",
        "3 | /     return (",
        "4 | |         w",
        "5 | |         / y",
        "  | |           - made here",
        "6 | |     )",
        "  | |_____^",
        "help: h",
    ]
    rows = shown(text, Span(3, 5, 7, 1), Note(Span(1, 7, 1, 8), "here"))
    assert rows[:4] == ["  |", "1 |   def f(x, w):", "  |         - here", "2 |       y = x"]
    assert rows[-2] == "  | |_____^"
    assert shown("f(\n\n)", Span(1, 1, 3, 2))[2] == "2 | |"


def test_of_a_long_block_both_ends_are_shown() -> None:
    text = "".join(f"line{n}\n" for n in range(1, 21))
    rows = shown(text, Span(2, 1, 12, 5))
    assert rows == [
        "   |",
        " 2 | / line2",
        " 3 | | line3",
        " 4 | | line4",
        " 5 | | line5",
        "...  |",
        "12 | | line12",
        "   | |____^",
        "help: h",
    ]
