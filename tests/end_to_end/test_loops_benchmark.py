"""The benchmark of loops: what it counts, and the page that it writes."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.loops import END, MARK, Row, section, totals
from benchmarks.pages import put

ROWS = [
    Row("fast", "converted", "", 8.0, 1.0, 2.0, 0.5, "", 8.0, 2.0),
    Row("slow", "partly", "PRT912: a | b stays", 1.0, 2.0, said="Numba: TypingError", gain=0.5),
    Row("odd", "wrong", "values differ"),
]


def test_means_are_over_what_was_measured() -> None:
    said = totals(ROWS)
    assert said.startswith("2 of 3 right; 2.00 times NumPy, 2.00 times Numba over the 1 programs")
    assert said.endswith("below 0.9 of NumPy: slow")


def test_the_page_says_how_it_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"before\n\n{MARK}\n\nold\n\n{END}\n\nafter\n")
    put(path, MARK, END, section(ROWS, argparse.Namespace(preset="S", note="A shared machine.")))
    text = path.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "preset S" in text and "A shared machine." in text
    assert "| fast | converted | 8e+03 | 1e+03 | 2e+03 | 8.00 | 2.00 | 0.5 |  |" in text
    assert "a \\| b stays" in text
    assert "| odd | wrong |  |  |  |  |  |  | values differ |" in text
