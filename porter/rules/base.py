"""What a rule is: its code, its page (the docstring), its cases, and its check."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from porter.diagnostics import Diagnostic, Fix, Note, Severity, Span
from porter.rules.model import Function, PyFile

#: the codes' blocks, by their first digit
BLOCKS = {
    "1": "Object mode and nopython typing",
    "2": "Loop lifting",
    "3": "CUDA target legality",
    "4": "Synchronisation and races",
    "5": "Data movement and streams",
    "6": "Launch configuration and memory access",
    "7": "Precision and cost",
    "8": "ufuncs and gufuncs",
    "9": "Not portable, and porter itself",
}

#: estimates of the work that porting takes, in order
EFFORTS = ("none", "small", "medium", "large")


@dataclass(frozen=True)
class Finding:
    """What a rule finds: a node, the message and its cure, other places, and a fix."""

    node: ast.AST
    message: str
    help: str
    notes: Sequence[tuple[ast.AST, str]] = ()
    fix: Fix | None = None


#: what a rule's check yields
Findings = Iterator[Finding]


@dataclass(frozen=True)
class Bad:
    """Code that a rule reports, first at `at` ("line:column", empty for anywhere); `fixed` is
    the same code after the fix."""

    code: str
    at: str = ""
    fixed: str | None = None


class Rule:
    """The base of every rule; a subclass with a `code` is found and run."""

    code: ClassVar[str] = ""
    name: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.WARNING
    since: ClassVar[str] = "0.1.0"
    #: code that is left alone, case after case, with a line `---` between them
    VALID: ClassVar[str] = ""
    #: code that is reported: each case under a line `--- line:column`, or `---` for anywhere, and
    #: under `+++` the same code after the fix
    INVALID: ClassVar[str] = ""

    @classmethod
    def valid(cls) -> list[str]:
        """The cases that are left alone."""
        return re.split(r"^---\n", _dedented(cls.VALID), flags=re.M) if cls.VALID else []

    @classmethod
    def invalid(cls) -> list[Bad]:
        """The cases that are reported."""
        _, *parts = re.split(r"^---(?: (\d+:\d+))?\n", _dedented(cls.INVALID), flags=re.M)
        cases = [text.partition("+++\n") for text in parts[1::2]]
        return [
            Bad(code, at or "", fixed if mark else None)
            for at, (code, mark, fixed) in zip(parts[::2], cases, strict=True)
        ]

    def check(self, file: PyFile) -> Findings:
        """Every finding in a file, of a rule that looks at files as a whole."""
        return iter(())

    def check_function(self, file: PyFile, function: Function) -> Findings:
        """Every finding in one function, of a rule that looks at functions one by one."""
        return iter(())

    def diagnostic(self, file: PyFile, found: Finding, function: Function | None) -> Diagnostic:
        """What is said of a finding in a function, or else in the one around its node."""
        name = file.function_at(found.node) if function is None else function.name
        notes = tuple(Note(file.span(node), text) for node, text in found.notes)
        made = self.at(file.path, file.span(found.node), found.message, found.help, name)
        return replace(made, notes=notes, fix=found.fix)

    @classmethod
    def at(cls, path: str, span: Span, message: str, help: str, function: str = "") -> Diagnostic:
        """A finding of this rule at a place."""
        return Diagnostic(cls.code, cls.name, message, span, path, cls.severity, help, function)

    @classmethod
    def page(cls) -> str:
        """The rule's page in Markdown: heading, facts, docstring, examples."""
        head = f"# {cls.code} {cls.name}\n\n"
        facts = f"Severity: {cls.severity.value}. Since porter {cls.since}.\n\n"
        return head + facts + inspect.cleandoc(cls.__doc__ or "") + "\n"

    @classmethod
    def summary(cls) -> str:
        """The first sentence of the page's "What it does"."""
        text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
        return " ".join(text[1].split()) if len(text) > 1 else ""


class ConverterRule(Rule):
    """A diagnostic that the converter or the engine raises: the class is its page and cases.

    `effort` is what it takes to write the code so that it converts: small if the line is
    spelled differently, medium for a part of the function, large for another algorithm.
    """

    severity: ClassVar[Severity] = Severity.ERROR
    effort: ClassVar[str] = "medium"


class NumbaRule(ConverterRule):
    """A diagnostic that only Numba itself gives, under `--compile` and `--run`.

    Without them nothing is said, whatever the code: those are its cases.
    """

    VALID = """
        from numba import njit

        @njit
        def f(x):
            return x + 1
        ---
        from numba import jit

        @jit(forceobj=True)
        def f(x):
            return [x]
        ---
        raise SystemExit(7)
        """


def _dedented(cases: str) -> str:
    return textwrap.dedent(cases.removeprefix("\n"))
