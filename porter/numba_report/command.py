"""`--compile` and `--run`: the analyses of the rules, with what Numba reports."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from porter.diagnostics import Diagnostic, UsageError
from porter.numba_report.ask import TIMEOUT, Run, compile_functions, run_script
from porter.numba_report.merge import merged, report
from porter.numba_report.model import Compiled
from porter.numba_report.questions import questions
from porter.options import AnalyzeOptions
from porter.rules.converter.nothing_compiled import NothingCompiled
from porter.rules.converter.script_failed import ScriptFailed
from porter.rules.converter.time_limit import TimeLimit
from porter.rules.engine import Analysis, Selection
from porter.source.files import SourceFile, read


def ask_numba(
    analyses: Sequence[Analysis],
    options: AnalyzeOptions,
    signatures: Mapping[str, str],
    selection: Callable[[str], Selection],
) -> list[Analysis]:
    """Each analysis with what Numba says; after a run, further ones for what the script imports."""
    # two at a time: one process compiles on one core, and each takes some 300 MB
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        answers = list(pool.map(lambda a: _answers(a, options, signatures), analyses))
    own = {a.source.path for a in analyses}
    result = []
    others: dict[str, list[Compiled]] = {}
    for analysis, (compiled, more) in zip(analyses, answers, strict=True):
        path = analysis.source.path
        mine = [c for c in compiled if c.path == path]
        result.append(merged(analysis, mine, selection(path), more))
        for one in compiled:
            if one.path not in own:
                others.setdefault(one.path, []).append(one)
    for path, found in others.items():
        source = _source(path)
        if source is not None:
            result.append(merged(Analysis(source), _wanted(found, options), selection(path)))
    return result


def _answers(
    analysis: Analysis, options: AnalyzeOptions, signatures: Mapping[str, str]
) -> tuple[list[Compiled], list[Diagnostic]]:
    seconds = options.timeout or TIMEOUT
    source = analysis.source
    compiled: list[Compiled] = []
    more: list[Diagnostic] = []
    if options.run:
        cells = source.text if source.notebook else None
        ran = run_script(source.path, options.script_args, seconds, options.raw, cells)
        more = list(_endings(ran, source, seconds))
        compiled = list(_wanted(ran.compiled, options))
    if options.compile:
        seen = {c.name for c in compiled if c.path == source.path}
        asked = questions(analysis, signatures, options.functions)
        left = [q for q in asked if q.name not in seen]
        compiled += compile_functions(source.path, source.text, left, seconds, options.raw)
    return compiled, more


def _wanted(compiled: Iterable[Compiled], options: AnalyzeOptions) -> list[Compiled]:
    return [c for c in compiled if not options.functions or c.name in options.functions]


def _endings(ran: Run, source: SourceFile, seconds: float) -> Iterator[Diagnostic]:
    """How the script ended, where that is worth a word."""
    ended = ran.ended
    what = "notebook" if source.notebook else "script"
    last = f"; it printed last: {ended.said[-1].strip()[:120]}" if ended.said else ""
    line = int(ran.raised["line"]) if ran.raised else 1
    if ended.code is None:
        message = f"the {what} was stopped after {seconds:g} s"
        yield report(TimeLimit, source, 1, message, f"give it more time with --timeout{last}")
    elif ran.raised:
        reason = f": {ran.raised['reason']}" if ran.raised["reason"] else ""
        message = f"the {what} raised {ran.raised['kind']}{reason}"
        help = "what was compiled until then is reported; the rest is missing"
        help += "; magics are left out" if source.has_magics else ""
        yield report(ScriptFailed, source, line or 1, message, help)
    elif ended.code:
        message = f"the {what} ended {_how(ended.code)}"
        help = f"what was compiled until then is reported{last}"
        yield report(ScriptFailed, source, 1, message, help)
    elif not ran.compiled:
        message = f"the {what} ran, and Numba compiled nothing"
        help = "call the functions in it, or use --compile, which needs no calls"
        yield report(NothingCompiled, source, 1, message, help)


def _how(code: int) -> str:
    if code > 0:
        return f"with exit code {code}"
    try:
        return f"by the signal {signal.Signals(-code).name}"
    except ValueError:
        return f"by the signal {-code}"


def _source(path: str) -> SourceFile | None:
    try:
        return replace(read(path), path=path)
    except UsageError:
        return None
