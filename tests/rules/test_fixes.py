"""Fixes that change a file in several places: all of their edits, or none."""

from __future__ import annotations

from porter.diagnostics import Diagnostic, Edit, Fix, Span
from porter.rules.fixes import apply_fixes
from porter.source.files import SourceFile

TEXT = "a = b(1)\nc = b(2)\n"
IMPORT = Edit(Span(1, 1, 1, 1), "import m\n")


def finding(span: Span, text: str, *also: Edit) -> Diagnostic:
    return Diagnostic("PRT999", "x", "y", span, fix=Fix(span, text, also=also))


def fixed(*found: Diagnostic) -> tuple[str, int]:
    return apply_fixes(SourceFile("f.py", TEXT), found)


def test_an_import_that_two_fixes_need_is_added_once() -> None:
    first = finding(Span(1, 5, 1, 6), "m.b", IMPORT)
    second = finding(Span(2, 5, 2, 6), "m.b", IMPORT)
    assert fixed(first, second) == ("import m\na = m.b(1)\nc = m.b(2)\n", 2)


def test_a_fix_that_overlaps_another_is_left_out_with_all_of_its_edits() -> None:
    whole = finding(Span(1, 1, 1, 9), "pass")
    inner = finding(Span(1, 5, 1, 6), "m.b", IMPORT)
    assert fixed(whole, inner) == ("pass\nc = b(2)\n", 1)


def test_two_insertions_at_one_place_keep_the_order_of_their_fixes() -> None:
    first = finding(Span(1, 1, 1, 2), "x", Edit(Span(1, 1, 1, 1), "one\n"))
    second = finding(Span(2, 1, 2, 2), "y", Edit(Span(1, 1, 1, 1), "two\n"))
    assert fixed(second, first) == ("one\ntwo\nx = b(1)\ny = b(2)\n", 2)
