"""Which functions of a file to compile, and with which types: known ones before assumed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from porter.diagnostics import UsageError
from porter.inference.signature import candidates
from porter.numba_report.ask import Question
from porter.rules.engine import Analysis
from porter.rules.model import Function, Kind, PyFile
from porter.source.module import FunctionSource, SourceModule
from porter.trace.lookup import traced_types

#: how many signatures are tried where the types are only inferred
CHOICES = 6
_KINDS = {
    Kind.PLAIN: "plain", Kind.NOPYTHON: "nopython", Kind.OBJECT: "object",
    Kind.KERNEL: "kernel", Kind.DEVICE: "device",
    Kind.VECTORIZE: "vectorize", Kind.GUVECTORIZE: "guvectorize",
}  # fmt: skip


def questions(
    analysis: Analysis, signatures: Mapping[str, str], names: Sequence[str] = ()
) -> list[Question]:
    """The functions that Numba compiles, and the plain ones that work on arrays.

    Functions inside of functions exist only while those run, so they are left to `--run`.
    """
    source = analysis.source
    try:
        file = PyFile(source.text, source.path)
        module = SourceModule(source.text, source.path)
    except (SyntaxError, ValueError, cst.ParserSyntaxError):
        return []
    recorded = traced_types(source.path)
    judged = {v.line: v.signature for v in analysis.functions}
    sources = {one.span.line: one for one in module.functions}
    found = []
    for function in file.functions:
        line = function.node.lineno
        if (not names or function.name in names) and _reachable(file, function, line in judged):
            kind = _KINDS[function.kind]
            if kind.endswith("vectorize") and function.on_device:
                kind += " cuda"
            end = function.node.end_lineno or line
            types, known = _choices(
                function, sources.get(line), signatures, recorded, judged.get(line, "")
            )
            found.append(Question(function.name, line, end, kind, types, known))
    return found


def _choices(
    function: Function,
    source: FunctionSource | None,
    signatures: Mapping[str, str],
    recorded: Mapping[str, Mapping[str, str]],
    judged: str,
) -> tuple[tuple[str, ...], str]:
    given = signatures.get(function.name)
    traced = recorded.get(function.name)
    if given is None and traced and list(traced) == function.parameters:
        return (", ".join(traced.values()),), "trace"
    if given is None and (function.node.args.vararg or function.node.args.kwarg):
        # nothing says how many arguments `*args` stands for
        return (), "inferred"
    return _types(source, given, judged)


def _reachable(file: PyFile, function: Function, judged: bool) -> bool:
    if function.kind is Kind.PLAIN and (not judged or "." in function.name):
        return False
    outer = function.name.rpartition(".")[0]
    return function.kind in _KINDS and not any(f.name == outer for f in file.functions)


def _types(
    function: FunctionSource | None, given: str | None, judged: str
) -> tuple[tuple[str, ...], str]:
    """Texts of signatures and where they are from; the one that `convert` takes comes first."""
    if given is not None:
        return (given,), "settings"
    if function is None:
        return (), "inferred"
    tried = _ordered(list(_candidates(function)))[:CHOICES]
    hinted = bool(tried) and all(t[1] for t in tried)
    texts = [judged, *(t[0] for t in tried)] if judged else [t[0] for t in tried]
    return tuple(dict.fromkeys(texts)), "type hints" if hinted else "inferred"


def _ordered(tried: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The first guess, those with more numbers instead of arrays, those of more dimensions."""
    arrays = tried[0][0].count("[") if tried else 0
    fewer = [t for t in tried[1:] if t[0].count("[") < arrays]
    return [*tried[:1], *fewer, *(t for t in tried[1:] if t not in fewer)]


def _candidates(function: FunctionSource) -> Iterator[tuple[str, bool]]:
    """Signatures that hints and use suggest, and whether hints alone say them."""
    try:
        for types in candidates(function, None):
            yield ", ".join(map(str, types)), all(t.given or t.omitted for t in types)
    except UsageError:
        # a decorator's signature in a form that only Numba reads: the child evaluates it
        return
