"""`porter analyze`: findings and a verdict per function, without running anything."""

from __future__ import annotations

import difflib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from porter.commands.options import AnalyzeOptions
from porter.config import Config, load_config
from porter.diagnostics import Diagnostic, UsageError
from porter.output.analysis import as_concise, as_full, statistics
from porter.output.color import wants_color
from porter.output.formats import FORMATS
from porter.output.records import to_json
from porter.rules.engine import Analysis, Selection, analyze
from porter.rules.fixes import apply_fixes
from porter.rules.registry import all_rules
from porter.source.files import SourceFile, load

FINE, FOUND, FAILED = 0, 1, 2


def run(options: AnalyzeOptions) -> int:
    """Analyze every path and print what was found; returns the exit code.

    Raises `UsageError` for a setting, a function or a baseline that does not exist.
    """
    config = load_config(options.paths[0])
    for prefix in (*options.select, *options.ignore, *config.select, *config.ignore):
        if not any(code.startswith(prefix) for code in all_rules()):
            raise UsageError(f"no rule has a code that starts with {prefix}; see `porter rules`")
    sources = load(options.paths, options.stdin_filename, config.exclude)
    analyses = [_one(file, options, config) for file in sources.files]
    _check_names(options, analyses, bool(sources.problems))
    if options.diff:
        return _diff(analyses, options)
    if options.fix:
        analyses = [_fixed(a, options, config) for a in analyses]
    if options.baseline:
        analyses = _against_baseline(analyses, Path(options.baseline))
    _write(_text(analyses, options, config), options)
    problems = [*sources.problems, *(p for a in analyses for p in a.problems)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        return FAILED
    found = any(a.diagnostics for a in analyses)
    return FOUND if found and not options.exit_zero else FINE


def _one(file: SourceFile, options: AnalyzeOptions, config: Config) -> Analysis:
    selection = Selection(options.select or config.select, options.ignore + config.ignore)
    return analyze(file, selection, config.signatures, options.functions)


def _check_names(options: AnalyzeOptions, analyses: Sequence[Analysis], incomplete: bool) -> None:
    known = {name for a in analyses for name in a.names}
    broken = any(d.code == "PRT900" for a in analyses for d in a.diagnostics)
    for name in options.functions:
        if name not in known and not incomplete and not broken:
            raise UsageError(f"no function `{name}` in {', '.join(options.paths)}")


def _text(analyses: Sequence[Analysis], options: AnalyzeOptions, config: Config) -> str:
    if options.output_format in FORMATS:
        return FORMATS[options.output_format](analyses, config.signatures, ())
    if options.statistics:
        return statistics([d for a in analyses for d in a.diagnostics])
    if options.output_format == "concise":
        return as_concise(analyses)
    return as_full(analyses, not options.output_file and wants_color(sys.stdout))


def _write(text: str, options: AnalyzeOptions) -> None:
    if options.output_file is None:
        sys.stdout.write(text)
        return
    try:
        Path(options.output_file).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{options.output_file}: {(error.strerror or '').lower()}") from error


def _diff(analyses: Sequence[Analysis], options: AnalyzeOptions) -> int:
    changed = False
    for a in analyses:
        text, count = apply_fixes(a.source, a.diagnostics, options.unsafe_fixes)
        if count:
            changed = True
            before, after = (t.splitlines(keepends=True) for t in (a.source.text, text))
            path = a.source.path
            sys.stdout.writelines(difflib.unified_diff(before, after, path, path))
    return FOUND if changed and not options.exit_zero else FINE


def _fixed(analysis: Analysis, options: AnalyzeOptions, config: Config) -> Analysis:
    """The analysis of the file after its fixes were written to it."""
    source = analysis.source
    text, count = apply_fixes(source, analysis.diagnostics, options.unsafe_fixes)
    if not count:
        return analysis
    if not Path(source.path).is_file():
        raise UsageError("standard input cannot be fixed in place: use --diff")
    Path(source.path).write_bytes(text.encode(source.encoding))
    print(f"{source.path}: {count} fixed", file=sys.stderr)
    return _one(replace(source, text=text), options, config)


def _key(diagnostic: Diagnostic) -> str:
    # lines move with every edit, so they are not part of what a finding is known by
    return "\t".join((diagnostic.path, diagnostic.code, diagnostic.function, diagnostic.message))


def _against_baseline(analyses: Sequence[Analysis], file: Path) -> list[Analysis]:
    """Leave out what the baseline lists; write the baseline when there is none."""
    try:
        if not file.exists():
            keys = sorted(_key(d) for a in analyses for d in a.diagnostics)
            file.write_text(to_json(keys), "utf-8")
            print(f"{file}: {len(keys)} findings written as the baseline", file=sys.stderr)
        known = Counter(str(k) for k in json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{file}: cannot be used as a baseline") from error
    return [replace(a, diagnostics=_without(a.diagnostics, known)) for a in analyses]


def _without(found: Sequence[Diagnostic], known: Counter[str]) -> tuple[Diagnostic, ...]:
    kept = []
    for diagnostic in found:
        if known[_key(diagnostic)] > 0:
            known[_key(diagnostic)] -= 1
        else:
            kept.append(diagnostic)
    return tuple(kept)
