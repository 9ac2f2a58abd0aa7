"""The words of PTX text, with the lines that they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.ptx.errors import Unsupported

_TOKEN = re.compile(
    r"""(?P<newline>\n)
    | (?P<space>[ \t\r]+ | //[^\n]* | /\*.*?\*/)
    | (?P<string>"[^"\n]*")
    | (?P<real>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b)
    | (?P<version>[0-9]+\.[0-9]+)
    | (?P<integer>0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | [0-9]+U?)
    | (?P<word>\.?[%$_a-zA-Z][\w$]*(?:(?:\.|::)[\w$]+)*)
    | (?P<mark>[\[\](){},;:+\-@!|<>=])""",
    re.X | re.S,
)


@dataclass(frozen=True)
class Token:
    """A word; `kind` is string, real, version, integer, word or mark, and end after the last."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> list[Token]:
    """The words of a text; raises `Unsupported` at what is none."""
    found: list[Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unsupported(f"text that is not PTX: {text[position : position + 20]!r}", line)
        kind = str(match.lastgroup)
        if kind not in ("newline", "space"):
            found.append(Token(kind, match[0], line))
        line += match[0].count("\n")
        position = match.end()
    return [*found, Token("end", "", line)]
