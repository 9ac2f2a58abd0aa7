"""What Numba reports, among the findings of the rules: on the user's lines, and said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from porter.diagnostics import Diagnostic, Note, Severity, Span
from porter.numba_report.model import Compiled, Failure, LiftedLoop
from porter.rules.base import NumbaRule
from porter.rules.engine import Analysis, Selection
from porter.rules.kernels.target_rejects import TargetRejects
from porter.rules.lifting.fell_back import FellBack
from porter.rules.lifting.lifted_types import LiftedTypes
from porter.rules.nopython.numba_rejects import NumbaRejects
from porter.rules.nopython.object_mode import ObjectMode
from porter.rules.suppress import ignores, suppress
from porter.rules.verdicts import Verdict
from porter.source.files import SourceFile

#: codes that speak of what Numba compiles
_SAME = ("PRT1", "PRT3", "PRT8", "PRT903", "PRT908")


def merged(
    analysis: Analysis,
    compiled: Sequence[Compiled],
    selection: Selection,
    more: Iterable[Diagnostic] = (),
) -> Analysis:
    """The analysis with what Numba said of the functions, and `more` diagnostics."""
    told = analysis.diagnostics
    new = [d for c in compiled for d in _diagnostics(c, analysis.source) if not _said(d, told)]
    comments = ignores(analysis.source.text) if new else []
    kept = [d for d in dict.fromkeys([*new, *more]) if selection.has(d.code)]
    return replace(
        analysis,
        diagnostics=tuple(
            sorted([*told, *suppress(kept, comments)], key=lambda d: (d.span, d.code))
        ),
        functions=tuple(_staged(v, compiled) for v in analysis.functions),
        numba=tuple(compiled),
    )


def line_span(source: SourceFile, line: int) -> Span:
    """The statement's text on a line."""
    text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
    begin = len(text) - len(text.lstrip()) + 1
    end = len(text.split("  #")[0].rstrip()) + 1
    return Span(line, begin, line, max(end, begin + 1))


def report(
    rule: type[NumbaRule],
    source: SourceFile,
    line: int,
    message: str,
    help: str,
    function: str = "",
) -> Diagnostic:
    """A finding of a rule on a line."""
    return rule.at(source.path, line_span(source, line), message, help, function)


def _diagnostics(compiled: Compiled, source: SourceFile) -> Iterator[Diagnostic]:
    # a plain function is not meant for Numba: that it would be rejected is no finding
    if not compiled.decorated:
        return
    if compiled.error is not None and _is_failure(compiled):
        yield _rejected(compiled, compiled.error, source)
    if compiled.mode == "object":
        name = compiled.name
        message = f"Numba runs `{name}` on Python objects, as without it"
        help = "remove the decorator, or what keeps the function from nopython mode"
        yield report(ObjectMode, source, compiled.line, message, help, name)
    for loop in compiled.loops:
        found = _loop(loop, compiled, source)
        if found is not None:
            yield found


def _is_failure(compiled: Compiled) -> bool:
    """Whether Numba rejects the function for the types that it is called with.

    An error for types that porter assumed may only say that the assumption was wrong.
    """
    certain = compiled.error is not None and compiled.error.certain
    return compiled.mode == "failed" and (certain or not compiled.assumed)


def _rejected(compiled: Compiled, error: Failure, source: SourceFile) -> Diagnostic:
    rule: type[NumbaRule] = TargetRejects if compiled.target == "cuda" else NumbaRejects
    found = report(rule, source, error.line, error.sentence, error.help, compiled.name)
    if not compiled.assumed:
        return found
    place = line_span(source, compiled.line)
    note = Note(place, f"assumed: `{compiled.name}({compiled.signature})`")
    return replace(found, severity=Severity.WARNING, notes=(note,))


def _loop(loop: LiftedLoop, compiled: Compiled, source: SourceFile) -> Diagnostic | None:
    if loop.nopython is None:
        return None
    if loop.nopython:
        message = f"Numba lifts this loop for {loop.signature}"
        help = "these would be the parameters of an @njit function made of the loop"
        return report(LiftedTypes, source, loop.line, message, help, compiled.name)
    why = f": {loop.reason}" if loop.reason else ""
    message = f"Numba cannot lift this loop{why}"
    help = "move what Numba does not support out of the loop"
    return report(FellBack, source, loop.line, message, help, compiled.name)


def _said(new: Diagnostic, told: Sequence[Diagnostic]) -> bool:
    """Whether a rule has already said so of that line: its words are easier to read.

    What only keeps a function from being converted is another matter.
    """
    return new.code in (NumbaRejects.code, TargetRejects.code, FellBack.code) and any(
        d.function == new.function
        and d.span.line <= new.span.line <= d.span.end_line
        and d.severity is Severity.ERROR
        and d.code.startswith(_SAME)
        for d in told
    )


def _staged(verdict: Verdict, compiled: Sequence[Compiled]) -> Verdict:
    """The verdict with the stage that Numba's modes show; the worst of several signatures."""
    own = [c for c in compiled if c.name == verdict.name and c.decorated]
    modes = {c.mode for c in own if c.mode != "failed" or _is_failure(c)} - {"unknown"}
    if not modes or verdict.verdict == "kernel":
        return verdict
    return replace(verdict, stage="nopython" if modes == {"nopython"} else "object mode")
