"""What porter says about a place in the user's code."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from porter.support.reserved import given


class Severity(Enum):
    """How much a diagnostic matters: errors stop a conversion, warnings and advice do not."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source: lines and columns count from 1, the end column is exclusive."""

    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1


@dataclass(frozen=True)
class Note:
    """A second place that the diagnostic speaks of, such as the read that conflicts."""

    span: Span
    text: str


@dataclass(frozen=True, order=True)
class Edit:
    """A stretch of source and the text that takes its place."""

    span: Span
    text: str


@dataclass(frozen=True)
class Fix:
    """A mechanical cure: the replaced span, its new text, and whether it keeps the behaviour.

    `also` are edits elsewhere without which it would be wrong, such as an import.
    """

    span: Span
    text: str
    safe: bool = True
    also: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Everything that the fix changes."""
        return (Edit(self.span, self.text), *self.also)


@dataclass(frozen=True)
class Diagnostic:
    """One finding at one place, with the cure in `help`."""

    code: str
    name: str
    message: str
    span: Span
    path: str = ""
    severity: Severity = Severity.ERROR
    help: str = ""
    function: str = ""
    notes: tuple[Note, ...] = field(default=())
    fix: Fix | None = None

    def at(self, path: str, function: str) -> Diagnostic:
        """The same diagnostic, placed in a file and a function."""
        notes = tuple(replace(n, text=given(n.text)) for n in self.notes)
        return replace(
            self, path=path, function=function or self.function, message=given(self.message),
            help=given(self.help), notes=notes,
        )  # fmt: skip


def brief(code: str, most: int = 32) -> str:
    """Code of the user in one line and short enough for a message."""
    text = " ".join(code.split())
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."


class Refusal(Exception):
    """Raised inside the converter when code cannot be converted; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(f"{diagnostic.code} {diagnostic.message}")
        self.diagnostic = diagnostic


class UsageError(Exception):
    """A wrong argument or an unreadable file: the command prints it and exits with 2."""


#: what the converter reports
NAMES = {
    "PRT408": "not-associative",
    "PRT803": "gufunc-layout",
    "PRT806": "beyond-target",
    "PRT901": "unsupported-call",
    "PRT902": "unsupported-syntax",
    "PRT903": "unknown-type",
    "PRT904": "loop-carried-dependence",
    "PRT905": "unsupported-indexing",
    "PRT906": "data-dependent-shape",
    "PRT907": "unsupported-dtype",
    "PRT908": "changes-type",
    "PRT909": "nothing-to-convert",
    "PRT914": "unknown-constant",
}

#: what helps in general, where a refusal has nothing better to say
CURES = {
    "PRT806": "use --target loops or --target cuda",
    "PRT901": "compute it outside this function and pass the result as an argument",
    "PRT902": "use numbers, arrays, tuples, `for`, `while` and `if`; do the rest in the caller",
    "PRT903": "pass values whose number of dimensions and sizes fit this operation",
    "PRT905": "index with integers, slices, integer arrays or a boolean mask",
    "PRT906": "keep the shape with `np.where`, or select the elements outside this function",
    "PRT907": "convert it first, for example with `x.astype(np.float64)`",
    "PRT908": "use a separate variable for each type",
}


def refusal(
    code: str, message: str, span: Span, help: str = "", notes: tuple[Note, ...] = ()
) -> Refusal:
    """A diagnostic of the converter, ready to raise."""
    message, help = _shown(message), _shown(help or CURES.get(code, ""))
    notes = tuple(replace(n, text=given(n.text)) for n in notes)
    return Refusal(Diagnostic(code, NAMES[code], message, span, help=help, notes=notes))


def _shown(text: str) -> str:
    """A text with the names that users write."""
    text = given(text).replace("`numpy.", "`np.")
    return text.replace("`builtins.", "`").replace("`ndarray.", "`")
