"""Runs the rules over one file: findings, minus what is suppressed or not selected."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porter.config import Config
from porter.diagnostics import Diagnostic, Severity, Span
from porter.guarded import Place, deep, guarded
from porter.rules.base import Rule
from porter.rules.converter.syntax_error import SyntaxErrorRule
from porter.rules.domains import domain_comments
from porter.rules.model import Function, PyFile
from porter.rules.registry import all_rules, checkers
from porter.rules.suppress import ignores, suppress, unused
from porter.rules.verdicts import Verdict, judge
from porter.source.depth import without_deep
from porter.source.files import SourceFile
from porter.source.newer import CURE, TooNewSyntax

if TYPE_CHECKING:
    from porter.numba_report.model import Compiled

# every rule that checks source speaks of code that names numba, or of a call that the
# lifting rules take for the reason that a function cannot be compiled
_PREFILTER = ("numba", "for ", "while ")


@dataclass(frozen=True)
class Selection:
    """Codes or prefixes to report; empty `select` means all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def has(self, code: str) -> bool:
        """Whether a code is reported."""
        chosen = not self.select or code.startswith(self.select)
        return chosen and not (self.ignore and code.startswith(self.ignore))


@dataclass(frozen=True)
class Analysis:
    """Everything that is said of one file; `numba` is empty unless Numba itself was asked.

    With `everything`, verdicts that are not news are listed too.
    """

    source: SourceFile
    diagnostics: tuple[Diagnostic, ...] = ()
    functions: tuple[Verdict, ...] = ()
    problems: tuple[str, ...] = ()
    names: frozenset[str] = field(default=frozenset())
    numba: tuple[Compiled, ...] = ()
    everything: bool = False

    @property
    def listed(self) -> tuple[Verdict, ...]:
        """The verdicts that are printed."""
        return tuple(v for v in self.functions if v.shown or self.everything)


def selected(analysis: Analysis, selection: Selection) -> Analysis:
    """The analysis with the diagnostics that are to be reported."""
    kept = tuple(d for d in analysis.diagnostics if selection.has(d.code))
    return (
        analysis if len(kept) == len(analysis.diagnostics) else replace(analysis, diagnostics=kept)
    )


def analyze(
    source: SourceFile,
    selection: Selection | None = None,
    names: tuple[str, ...] = (),
    config: Config | None = None,
    everything: bool = False,
) -> Analysis:
    """Analyze one file without importing or running it; `names` restricts to functions.

    With `everything` the converter is asked about every function, array work or not.
    """
    selection = selection or Selection()
    broken = [_broken(source, b.line, b.column, b.message) for b in source.broken]
    file: PyFile | None = None
    try:
        file = PyFile(source.text, source.path)
    except SyntaxError as error:
        broken.append(_unread(source, error))
    except (RecursionError, MemoryError):
        try:
            # functions that are too deep are left out: the others are analyzed
            shallow, _ = deep(lambda: without_deep(source.text))
            file = deep(lambda: PyFile(shallow, source.path))
        except SyntaxError as error:
            broken.append(_unread(source, error))
    if file is not None:
        whole = file
        settings = config or Config()
        return deep(lambda: _analyze(source, whole, broken, selection, settings, names, everything))
    return Analysis(source, tuple(d for d in broken if selection.has(d.code)))


def _analyze(
    source: SourceFile,
    file: PyFile,
    broken: list[Diagnostic],
    selection: Selection,
    config: Config,
    names: tuple[str, ...],
    everything: bool,
) -> Analysis:
    found: list[Diagnostic] = []
    if any(word in source.text for word in _PREFILTER):
        found = [d for rule in checkers() for d in _findings(rule, file)]
    verdicts = judge(source, file, found, config, names, everything)
    found += _new(list(verdicts.diagnostics), found)
    found += domain_comments(source.text, file.path)
    comments = ignores(source.text)
    kept = [*broken, *suppress(found, comments)]
    if names:
        kept = [d for d in kept if _inside(d.function, names)]
    elif comments:
        kept += suppress(unused(comments, file.path, all_rules()), comments)
    kept = [d for d in dict.fromkeys(kept) if selection.has(d.code)]
    kept.sort(key=lambda d: (d.span, d.code))
    return Analysis(
        source,
        tuple(kept),
        verdicts.functions,
        (),
        frozenset(f.name for f in file.functions),
        everything=everything,
    )


def _findings(rule: Rule, file: PyFile) -> list[Diagnostic]:
    """What a rule finds; where it fails, this is said of the function that it failed on."""
    if type(rule).check is not Rule.check:
        return _found(rule, file, None)
    return [d for function in file.functions for d in _found(rule, file, function)]


def _found(rule: Rule, file: PyFile, function: Function | None) -> list[Diagnostic]:
    def check() -> list[Diagnostic]:
        found = rule.check(file) if function is None else rule.check_function(file, function)
        return [rule.diagnostic(file, one, function) for one in found]

    place = Place("", file.path, Span())
    if function is not None:
        place = Place(function.name, file.path, file.span(function.node))
    found = guarded(place, check)
    return [found] if isinstance(found, Diagnostic) else found


def _inside(function: str, names: tuple[str, ...]) -> bool:
    return any(function == n or function.startswith(f"{n}.") for n in names)


def _new(converter: list[Diagnostic], rules: list[Diagnostic]) -> list[Diagnostic]:
    """The converter's diagnostics, without those that a rule has already said in its words."""
    said = [
        d for d in rules if d.code.startswith(("PRT1", "PRT3")) and d.severity is Severity.ERROR
    ]
    return [
        d
        for d in converter
        if not any(r.function == d.function and r.span.line == d.span.line for r in said)
    ]


def _unread(source: SourceFile, error: SyntaxError) -> Diagnostic:
    found = _broken(source, error.lineno or 1, error.offset or 1, error.msg)
    return replace(found, help=CURE) if isinstance(error, TooNewSyntax) else found


def _broken(source: SourceFile, line: int, column: int, message: str) -> Diagnostic:
    text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
    column = max(1, min(column, len(text) + 1))
    span = Span(line, column, line, column + 1)
    message = message.strip().rstrip(".") or "invalid syntax"
    return SyntaxErrorRule.at(source.path, span, message, "correct the syntax")
