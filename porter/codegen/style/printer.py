"""The printer: decides, from left to right, which groups of a document are broken."""

from __future__ import annotations

import unicodedata
from enum import Enum
from typing import NamedTuple

from porter.codegen.style.doc import (
    HARD,
    BestFitParens,
    BestFitting,
    Doc,
    FitsExpanded,
    Group,
    If,
    Indent,
    Line,
    Suffix,
)

INDENT = 4


class Measure(Enum):
    """How much of a broken text has to fit: up to the first break, all of it, none of it."""

    FIRST_LINE = 0
    ALL_LINES = 1
    OVERFLOW = 2


class Item(NamedTuple):
    """A document to print and the state in which it is printed."""

    doc: Doc
    indent: int
    flat: bool
    measure: Measure = Measure.FIRST_LINE


def width_of(text: str) -> int:
    """Columns that the text takes: wide East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


class Printer:
    """Prints one document from a given column; use a new printer for each."""

    def __init__(self, width: int, indent: int) -> None:
        self.width = width
        self.stack: list[Item] = []
        self.modes: dict[int, bool] = {}
        self.measured = False
        self.lines = [" " * indent]
        self.column = indent
        self.suffixes: list[str] = []

    def print(self, doc: Doc, indent: int) -> list[str]:
        """The lines of the document, without line ends."""
        self.stack.append(Item(doc, indent, False))
        while self.stack:
            self._print(self.stack.pop())
        self._flush()
        return self.lines

    def _flush(self) -> None:
        self.lines[-1] += "".join(self.suffixes)
        self.suffixes.clear()

    def _print(self, item: Item) -> None:
        doc = item.doc
        if isinstance(doc, str):
            self.lines[-1] += doc
            self.column += width_of(doc)
        elif isinstance(doc, Line):
            self._print_line(doc, item)
        elif isinstance(doc, Suffix):
            self.column += doc.width
            self.suffixes.append(doc.text)
        elif isinstance(doc, Group):
            self._print_group(doc, item)
        elif isinstance(doc, BestFitParens):
            self._print_best_parens(doc, item)
        elif isinstance(doc, BestFitting):
            self._print_best(doc, item)
        else:
            if isinstance(doc, FitsExpanded) and self.modes[doc.id]:
                self.measured = False  # the groups inside decide for themselves
            self.stack.extend(self._open(item))

    def _open(self, item: Item) -> list[Item]:
        """The parts of a document that needs no decision, last one first."""
        doc = item.doc
        if isinstance(doc, tuple):
            return [item._replace(doc=part) for part in reversed(doc)]
        if isinstance(doc, Indent):
            deeper = doc.id is None or not self.modes[doc.id]
            return [item._replace(doc=doc.content, indent=item.indent + INDENT * deeper)]
        if isinstance(doc, If):
            flat = item.flat if doc.id is None else self.modes[doc.id]
            return [item._replace(doc=doc.content)] if flat != doc.broken else []
        return [item._replace(doc=doc.content)] if isinstance(doc, FitsExpanded) else []

    def _print_line(self, line: Line, item: Item) -> None:
        if item.flat and not line.hard:
            self.lines[-1] += line.flat
            self.column += len(line.flat)
            return
        self._flush()
        self.lines[-1] = self.lines[-1].rstrip()
        self.lines.append(" " * item.indent)
        self.column = item.indent

    def _fits_flat(self, content: Doc, item: Item, id: int | None) -> bool:
        if item.flat and self.measured:
            return True
        self.measured = True
        if id is not None:
            self.modes[id] = True
        return self._fits([item._replace(doc=content, flat=True)])

    def _print_group(self, doc: Group, item: Item) -> None:
        if doc.when is not None and self.modes[doc.when]:
            self.stack.append(item._replace(doc=doc.content))
            return
        flat = not doc.expand and self._fits_flat(doc.content, item, doc.id)
        if doc.id is not None:
            self.modes[doc.id] = flat
        self.stack.append(item._replace(doc=doc.content, flat=flat))

    def _print_best_parens(self, doc: BestFitParens, item: Item) -> None:
        flat = self._fits_flat(doc.content, item, doc.id)
        self.modes[doc.id] = flat
        inside: Doc = ("(", Indent((HARD, doc.content)), HARD, ")")
        if not flat:
            # parentheses that do not make it fit would only be noise
            flat = not self._fits([item._replace(doc=inside, measure=Measure.ALL_LINES)])
            self.modes[doc.id] = flat
        self.stack.append(item._replace(doc=doc.content if flat else inside, flat=flat))

    def _print_best(self, doc: BestFitting, item: Item) -> None:
        if item.flat and self.measured:
            self.stack.append(item._replace(doc=doc.variants[0]))
            return
        self.measured = True
        for variant in doc.variants[:-1]:
            tried = item._replace(doc=variant, flat=True, measure=Measure.FIRST_LINE)
            if self._fits([tried]):
                self.stack.append(item._replace(doc=variant, flat=True))
                return
        self.stack.append(item._replace(doc=doc.variants[-1], flat=False))

    def _fits(self, todo: list[Item]) -> bool:
        """Whether `todo`, and what follows on its last line, stays within the width."""
        column, rest = self.column, len(self.stack)
        while todo or rest:
            if todo:
                item = todo.pop()
            else:
                rest -= 1
                item = self.stack[rest]
            doc = item.doc
            if isinstance(doc, Line) and not (item.flat and not doc.hard):
                if item.flat or item.measure is Measure.FIRST_LINE:
                    return True
                column = item.indent
                continue
            if isinstance(doc, (str, Line, Suffix)):
                column += self._columns(doc)
                if column > self.width and (
                    item.measure is not Measure.OVERFLOW or isinstance(doc, Suffix)
                ):
                    return False
                continue
            opened = self._measure(item)
            if opened is None:
                return False
            todo.extend(opened)
        return True

    @staticmethod
    def _columns(doc: str | Line | Suffix) -> int:
        if isinstance(doc, Suffix):
            return doc.width
        return width_of(doc if isinstance(doc, str) else doc.flat)

    def _measure(self, item: Item) -> list[Item] | None:
        """The parts to measure of a document, last one first; None if it cannot fit."""
        doc = item.doc
        if isinstance(doc, Group):
            if doc.when is not None and self.modes[doc.when]:
                return [item._replace(doc=doc.content)]
            flat = item.flat and not doc.expand
            if doc.id is not None:
                self.modes[doc.id] = flat
            return [item._replace(doc=doc.content, flat=flat)]
        if isinstance(doc, BestFitting):
            return [item._replace(doc=doc.variants[0 if item.flat else -1])]
        if isinstance(doc, BestFitParens):
            self.modes[doc.id] = item.flat
            return [item._replace(doc=doc.content)]
        if isinstance(doc, FitsExpanded) and item.flat:
            if self.modes[doc.id]:
                return [Item(doc.content, item.indent, False, Measure.OVERFLOW)]
            return None if doc.forced else [item._replace(doc=doc.content)]
        return self._open(item)
