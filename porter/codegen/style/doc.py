"""Documents: text with the places where it may be broken, after Wadler's pretty printer.

The vocabulary is the one that ruff's formatter works with (its documentation calls it
"format elements"), because porter's output has to agree with it line for line.  A
document is text, a tuple of documents, or one of the classes below.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

_ids = count(1)


def new_id() -> int:
    """A name for a group, so that other parts can ask whether that group was broken."""
    return next(_ids)


@dataclass(frozen=True, slots=True)
class Line:
    """A possible line break: flat it is `flat`; a `hard` one is always a break."""

    flat: str = ""
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Content that is printed flat if it fits, else with all of its own lines broken.

    `when` makes it a group only if the group of that id is broken; `expand` breaks it always.
    """

    content: Doc
    id: int | None = None
    expand: bool = False
    when: int | None = None


@dataclass(frozen=True, slots=True)
class Indent:
    """Content four columns deeper, if the group of that id (or None: always) is broken."""

    content: Doc
    id: int | None = None


@dataclass(frozen=True, slots=True)
class If:
    """Content printed only if the group of that id (None: the enclosing one) is (not) broken."""

    content: Doc
    id: int | None = None
    broken: bool = True


@dataclass(frozen=True, slots=True)
class FitsExpanded:
    """Content that may break inside without breaking the groups around it.

    Only as long as the group `id` is flat: its optional parentheses are not printed.
    """

    content: Doc
    id: int
    forced: bool


@dataclass(frozen=True, slots=True)
class BestFitParens:
    """Content put between parentheses on its own line if that, and only that, makes it fit."""

    content: Doc
    id: int


@dataclass(frozen=True, slots=True)
class BestFitting:
    """The first of the variants that fits, else the last."""

    variants: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Suffix:
    """A trailing comment, printed before the next line break; `width` columns count."""

    text: str
    width: int


@dataclass(frozen=True, slots=True)
class ExpandParent:
    """Breaks every group around it: a magic trailing comma."""


Doc = (
    str
    | tuple["Doc", ...]
    | Line
    | Group
    | Indent
    | If
    | FitsExpanded
    | BestFitParens
    | BestFitting
    | Suffix
    | ExpandParent
)

SOFT, SPACE, HARD = Line(), Line(" "), Line(hard=True)


def forces_break(doc: Doc) -> bool:
    """Whether the groups around this document have to be broken."""
    if isinstance(doc, tuple):
        return any(forces_break(part) for part in doc)
    if isinstance(doc, Line):
        return doc.hard
    if isinstance(doc, Group):
        return doc.expand
    if isinstance(doc, (Indent, If)):
        return forces_break(doc.content)
    return isinstance(doc, ExpandParent)


def group(
    content: Doc, *, id: int | None = None, expand: bool = False, when: int | None = None
) -> Group:
    """A group that is broken from the start if its content forces it."""
    return Group(content, id, expand or forces_break(content), when)


def block(content: Doc) -> Doc:
    """Content on its own indented lines once the enclosing group is broken."""
    return (Indent((SOFT, content)), SOFT)
