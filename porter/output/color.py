"""Colour for terminals: NO_COLOR and FORCE_COLOR decide before the terminal does."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "advice": "1;36",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "gone": "31",
    "frame": "1;34",
}


def wants_color(stream: TextIO) -> bool:
    """Whether to colour what is written to a stream (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        # what npm's tools and pytest take for "no"
        return forced not in ("0", "false")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, on: bool) -> str:
    """`text` in a style (a key of the table above), unchanged when colour is off."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if on and text else text
