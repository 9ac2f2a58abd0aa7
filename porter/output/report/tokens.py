"""Python text in coloured runs, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Token

#: the letter that the style sheet knows a kind of token by; kinds of a kind go with it
_LETTERS = {
    Token.Keyword: "k",
    Token.Operator.Word: "k",
    Token.Name.Builtin.Pseudo: "v",
    Token.Name.Builtin: "b",
    Token.Name.Function: "f",
    Token.Name.Class: "f",
    Token.Name.Decorator: "d",
    Token.Literal.String: "s",
    Token.Literal.String.Interpol: "v",
    Token.Literal.Number: "n",
    Token.Comment: "c",
}
PLAIN = "_"


def coloured(lines: Sequence[str]) -> list[list[str]]:
    """For each line its runs: a letter for the kind, then the text of the run."""
    found: list[list[str]] = [[]]
    lexer = PythonLexer(stripnl=False, ensurenl=False, stripall=False)
    for kind, text in lexer.get_tokens("\n".join(lines)):
        letter = _letter(kind)
        for number, part in enumerate(text.split("\n")):
            if number:
                found.append([])
            if part:
                _append(found[-1], letter if part.strip() else PLAIN, part)
    if ["".join(run[1:] for run in line) for line in found] != list(lines):
        # the lexer drops a byte order mark, for one: then the text counts, not its colours
        return [[PLAIN + line] if line else [] for line in lines]
    return found


def _append(line: list[str], letter: str, text: str) -> None:
    if line and (line[-1][0] == letter or not text.strip()):
        line[-1] += text
    else:
        line.append(letter + text)


def _letter(kind: Any) -> str:
    while kind is not None:
        if kind in _LETTERS:
            return _LETTERS[kind]
        kind = kind.parent
    return PLAIN
