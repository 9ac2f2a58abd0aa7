"""docs/ptx.md has the machine's table of instructions."""

from __future__ import annotations

from tests.tools.make_ptx_page import PAGE, page


def test_the_table_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.tools.make_ptx_page`"
