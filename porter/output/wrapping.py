"""Lines that fit a terminal."""

from __future__ import annotations

import textwrap

#: columns of a line, with two levels of indentation to spare
WIDTH = 100
_SPARE = 4


def wrapped(line: str) -> list[str]:
    """A line, the rest of it indented where it is too long."""
    return textwrap.wrap(
        line, WIDTH - _SPARE, subsequent_indent="  ",
        break_long_words=False, break_on_hyphens=False,
    ) or [""]  # fmt: skip
