"""Lines and columns of Python text as the Python tokenizer counts them."""

from __future__ import annotations

import re

# str.splitlines also splits at form feeds and Unicode separators, which Python does not
_LINE_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends, numbered as `ast` and libcst number them."""
    lines = _LINE_END.split(text)
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def column(line: str, byte_offset: int) -> int:
    """The column, from 1 and in characters, of an offset that `ast` counts in UTF-8 bytes."""
    if line.isascii():
        return byte_offset + 1
    return len(line.encode()[:byte_offset].decode(errors="replace")) + 1
