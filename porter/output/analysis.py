"""The result of `porter analyze` as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import porter
from porter.diagnostics import Diagnostic
from porter.output import costs, numba
from porter.output.color import paint
from porter.output.frames import concise, full
from porter.output.records import diagnostic_record, to_json
from porter.output.wrapping import wrapped
from porter.rules.engine import Analysis
from porter.rules.verdicts import HELPER, NOTHING, STAGES, Verdict

_STYLES = {
    "kernel": "good", "ufunc": "good", HELPER: "good",
    "convertible": "good", "partly": "warning", "refused": "error",
}  # fmt: skip
#: verdicts that say what becomes of a function's array work
_JUDGED = ("convertible", "partly", "refused", "kernel", "ufunc")


def as_json(analyses: Sequence[Analysis], counts: bool = False) -> str:
    """The contract's object: every diagnostic and every verdict; with `counts`, how often each
    code was found."""
    found = [(d, a.source) for a in analyses for d in a.diagnostics]
    record: dict[str, object] = {
        "porter": porter.__version__,
        "diagnostics": [diagnostic_record(d, source) for d, source in found],
        "functions": [_function(a, v) for a in analyses for v in a.listed],
    }
    if counts:
        record["statistics"] = [
            {"code": code, "name": name, "count": n} for (code, name), n in _counted(found)
        ]
    if any(a.numba for a in analyses):
        record["numba"] = numba.others(analyses)
    return to_json(record)


def _counted(found: Iterable[tuple[Diagnostic, object]]) -> list[tuple[tuple[str, str], int]]:
    """How often each code was found, the most frequent first."""
    counts = Counter((d.code, d.name) for d, _ in found)
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))


def _function(analysis: Analysis, verdict: Verdict) -> dict[str, object]:
    cell = analysis.source.cell_of(verdict.line)
    shift = cell.start - 1 if cell is not None else 0
    record: dict[str, object] = {
        "path": verdict.path,
        "name": verdict.name,
        "line": verdict.line - shift,
        "end_line": verdict.end_line - shift,
        "verdict": verdict.verdict,
        "stage": verdict.stage,
        "reasons": list(verdict.reasons),
        "signature": verdict.signature,
        **costs.record(verdict),
    }
    if verdict.because:
        record["because"] = verdict.because
    if cell is not None:
        record["cell"] = cell.number
    if analysis.numba:
        record["numba"] = numba.records(analysis, verdict.name, verdict.line)
    return record


def as_full(analyses: Sequence[Analysis], color: bool) -> str:
    """Framed diagnostics, a table of verdicts, a line that counts both."""
    files = {a.source.path: a.source for a in analyses}
    found = [d for a in analyses for d in a.diagnostics]
    text = full(found, files, color)
    verdicts = [(a, v) for a in analyses for v in a.listed]
    if verdicts:
        text += _table(verdicts, color) + "\n" + costs.ranking(analyses)
    text += numba.as_table(analyses, color)
    return text + summary(found, analyses) + "\n"


def as_concise(analyses: Sequence[Analysis]) -> str:
    """A line for each diagnostic, then one for each verdict."""
    files = {a.source.path: a.source for a in analyses}
    text = concise([d for a in analyses for d in a.diagnostics], files)
    for a in analyses:
        for v in a.listed:
            path, line = a.source.place(v.line)
            text += f"{path}:{line}: {v.name} is {v.verdict} (stage: {v.stage})\n"
    return text + numba.as_lines(analyses)


def statistics(diagnostics: Sequence[Diagnostic]) -> str:
    """How often each code was found, the most frequent first."""
    rows = _counted((d, None) for d in diagnostics)
    return "".join(f"{n:>6}  {code}  {name}\n" for (code, name), n in rows)


def _table(verdicts: list[tuple[Analysis, Verdict]], color: bool) -> str:
    """A line for each function, and below it what the verdict rests on and what a call costs."""
    rows = [("location", "function", "verdict", "stage", "types")]
    for a, v in verdicts:
        path, line = a.source.place(v.line)
        effort = f"effort {v.effort}" if v.effort != "none" else ""
        codes = "" if v.verdict == HELPER and v.because else ", ".join(v.reasons)
        more = "; ".join(x for x in (v.signature, codes, effort) if x)
        rows.append((f"{path}:{line}", v.name, v.verdict, v.stage, more))
    widths = [max(len(r[n]) for r in rows) for n in range(4)]
    lines = []
    details = [
        [],
        *([w for line in _details(v) for w in wrapped(f"    {line}")] for _, v in verdicts),
    ]
    for row, more_lines in zip(rows, details, strict=True):
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:4], widths, strict=True)]
        cells[2] = paint(cells[2], _STYLES.get(row[2], "bold"), color)
        lines.append("  ".join([*cells, row[4]]).rstrip())
        lines += more_lines
    reached = {v.stage for _, v in verdicts}
    meanings = [f"{stage} = {meaning}" for stage, meaning in STAGES.items() if stage in reached]
    lines += ["", *wrapped(f"stages: {'; '.join(meanings)}")]
    return "".join(f"{line}\n" for line in lines)


def _details(v: Verdict) -> Iterator[str]:
    if v.because:
        yield v.because
    if v.assumed:
        yield f"assumed: {'; '.join(v.assumed)}"
    if v.cost is not None:
        yield "; ".join(x for x in (v.cost.brief, v.cost.small) if x)


def summary(found: Sequence[Diagnostic], analyses: Sequence[Analysis]) -> str:
    """`2 errors; 5 functions: 4 judged (3 convertible, 1 refused), 1 scalar helper`."""
    counts = Counter(d.severity.value for d in found)
    parts = [_count(counts[s], s) for s in ("error", "warning", "advice") if counts[s]]
    left = ", ".join(parts) or "no findings"
    return f"{left}{_fixable(found)}; {_functions(analyses)}"


def _functions(analyses: Sequence[Analysis]) -> str:
    """How many functions there are, and what is said of them."""
    kinds = Counter(v.verdict for a in analyses for v in a.functions if v.shown or a.everything)
    hidden = sum(not v.shown for a in analyses for v in a.functions if not a.everything)
    number = sum(kinds.values()) + hidden
    if not number:
        return "no functions"
    parts = []
    judged = [f"{kinds[k]} {k}" for k in _JUDGED if kinds[k]]
    if judged:
        parts.append(f"{sum(kinds[k] for k in _JUDGED)} judged ({', '.join(judged)})")
    if kinds[HELPER]:
        parts.append(_count(kinds[HELPER], "scalar helper"))
    nothing = kinds[NOTHING] + hidden
    if nothing:
        parts.append(f"{nothing} with {NOTHING}" + (" (listed by --all)" if hidden else ""))
    return f"{_count(number, 'function')}: {', '.join(parts)}"


def _fixable(found: Sequence[Diagnostic]) -> str:
    """How many findings have a fix, and the option that applies it."""
    fixes = [d.fix for d in found if d.fix is not None]
    safe = sum(f.safe for f in fixes)
    parts = [f"{safe} fixable with --fix"] if safe else []
    if safe < len(fixes):
        parts.append(f"{len(fixes) - safe} {'' if safe else 'fixable '}with --unsafe-fixes")
    return f" ({', '.join(parts)})" if parts else ""


def _count(number: int, noun: str) -> str:
    plural = noun if number == 1 or noun == "advice" else f"{noun}s"
    return f"{number} {plural}"
