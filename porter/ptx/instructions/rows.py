"""Rows of the table: how an instruction is spelled, what its operands are, what it computes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from porter.ptx.arithmetic.kinds import DTYPES


@dataclass(frozen=True)
class Form:
    """An opcode as one row reads it: the words chosen, and the types among them."""

    opcode: str
    words: tuple[str, ...]

    def has(self, word: str) -> bool:
        """Whether a modifier is there."""
        return word in self.words

    def one(self, *words: str) -> str:
        """The one of some modifiers that is there, or ''."""
        return next((w for w in words if w in self.words), "")

    @property
    def types(self) -> tuple[str, ...]:
        """The types, in order."""
        return tuple(w for w in self.words if w in DTYPES)

    @property
    def type(self) -> str:
        """The last type: the one of the operands."""
        return self.types[-1]


@dataclass(frozen=True)
class Row:
    """One instruction.

    `syntax` is the opcode with alternatives in braces and what may be missing in brackets.
    `operands` has the types of results and sources, apart by `|`: `t` is the last type of the
    opcode, `d` the first, `cc` the carry, `a` an address, `m` the state of the machine; types are
    named otherwise.  `make` gives the function of the sources for a form, None where the form is
    not in the ISA.  `about` says what it computes, `bound` how exact an approximation is.
    `rough` is a quicker function whose last bits may be off, where there is one: for counts.
    `kind` is value, memory, warp, barrier, or control (done by the machine itself).
    """

    syntax: str
    operands: str
    make: Callable[[Form], Any]
    about: str
    klass: str = "integer"
    kind: str = "value"
    bound: str = ""
    rough: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        """The first word."""
        return self.syntax.split()[0]

    def opcodes(self) -> Iterator[tuple[str, ...]]:
        """The words of every opcode that the row reads."""
        return itertools.product([self.name], *_slots(self.syntax))

    def results(self, form: Form) -> list[str]:
        """The types of the results."""
        return _types(self.operands.split("|")[0], form)

    def sources(self, form: Form) -> list[str]:
        """The types of the sources."""
        return _types(self.operands.split("|")[1], form)

    def counted(self, form: Form) -> str:
        """The class in which the instruction is counted."""
        if self.klass == "float":
            return "f64" if "f64" in form.words else "float"
        if self.klass == "division":
            return "division" if form.types[-1][1:] == "64" else "integer"
        return self.klass


def _types(text: str, form: Form) -> list[str]:
    meanings = {"t": form.types[-1], "d": form.types[0]} if form.types else {}
    return [meanings.get(word, word) for word in text.split()]


@cache
def _slots(syntax: str) -> list[list[str]]:
    """The alternatives at each place of an opcode, '' where a word may be missing."""
    found = []
    for place in re.findall(r"\{[^}]*\}|\[[^\]]*\]|\S+", syntax.split(maxsplit=1)[-1]):
        words = place.strip("{}[]").split()
        found.append(["", *words] if place[0] == "[" else words)
    return found if " " in syntax else []


class Table:
    """All rows, by the opcodes that they read."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)
        self._known: dict[str, tuple[Row, Form] | None] = {}

    def find(self, opcode: str) -> tuple[Row, Form] | None:
        """The row that reads an opcode, and how; None where there is none."""
        if opcode not in self._known:
            self._known[opcode] = self._find(opcode)
        return self._known[opcode]

    def _find(self, opcode: str) -> tuple[Row, Form] | None:
        words = opcode.split(".")
        for row in self.rows:
            if row.name == words[0]:
                chosen = _match(words[1:], _slots(row.syntax))
                if chosen is not None:
                    return row, Form(opcode, chosen)
        return None


def _match(words: list[str], slots: list[list[str]]) -> tuple[str, ...] | None:
    if not slots:
        return None if words else ()
    if words and words[0] in slots[0]:
        rest = _match(words[1:], slots[1:])
        if rest is not None:
            return (words[0], *rest)
    return _match(words, slots[1:]) if "" in slots[0] else None
