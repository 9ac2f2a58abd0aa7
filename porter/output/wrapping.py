"""Lines that fit a terminal."""

from __future__ import annotations

import textwrap

#: columns of a line, with two levels of indentation to spare
WIDTH = 100
_SPARE = 4


def wrapped(line: str) -> list[str]:
    """The line in pieces that fit; what follows the first is indented, and so is what was."""
    words = line.lstrip(" ")
    indent = line[: len(line) - len(words)]
    return textwrap.wrap(
        words, WIDTH - _SPARE, initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    ) or [""]  # fmt: skip
