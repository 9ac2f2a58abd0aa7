"""Writes the table of instructions into docs/ptx.md: `python -m tests.tools.make_ptx_page`."""

from __future__ import annotations

from porter.ptx.instructions.table import TABLE
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "ptx.md"
MARK = "<!-- instructions -->\n"


def table() -> str:
    """The rows of the table, in its order."""
    lines = ["| instruction | computes | exact to |", "|---|---|---|"]
    for row in TABLE.rows:
        lines.append(f"| `{row.syntax}` | {row.about} | {row.bound} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the table as it is now."""
    return PAGE.read_text("utf-8").partition(MARK)[0] + MARK + "\n" + table()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
