"""Pages of the documentation with a part that a benchmark writes."""

from __future__ import annotations

from pathlib import Path


def put(path: Path, mark: str, end: str, text: str) -> None:
    """Put a text between the marks of a page; the page ends with it where it has none yet."""
    before, _, rest = path.read_text("utf-8").partition(mark)
    path.write_text(f"{before}{mark}\n\n{text}\n\n{end}{rest.partition(end)[2]}", "utf-8")
