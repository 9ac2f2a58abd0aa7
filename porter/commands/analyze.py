"""`porter analyze`: findings and a verdict per function, without running anything."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from porter.analysis.cache import Cache, default_folder
from porter.analysis.question import Question
from porter.analysis.tree import analyze_files
from porter.commands.baseline import against
from porter.config import Config, load_config, settings
from porter.diagnostics import Severity, UsageError
from porter.options import AnalyzeOptions
from porter.output.analysis import as_concise, as_full, as_json, statistics
from porter.output.color import wants_color
from porter.output.formats import FORMATS
from porter.output.numba import as_raw, as_types
from porter.output.records import to_json
from porter.output.settings import as_record, as_text
from porter.rules.engine import Analysis, Selection, selected
from porter.rules.registry import all_rules
from porter.source.files import SourceFile, load
from porter.support.nearest import suggestion

FINE, FOUND, FAILED = 0, 1, 2


def run(options: AnalyzeOptions) -> int:
    """Analyze every path and print what was found; returns the exit code.

    Raises `UsageError` for a setting, a function or a baseline that does not exist.
    """
    options.check()
    config = load_config(options.paths[0])
    _check_codes(options, config)
    if options.show_settings:
        return _show(options, config)
    sources = load(options.paths, options.stdin_filename, config.exclude)
    if "-" in options.paths and options.changes_files and len(sources.files) > 1:
        raise UsageError("standard input is fixed by itself: give no other file beside -")
    work = _Work(options, config)
    analyses = work.on(sources.files)
    _check_names(options, analyses, bool(sources.problems))
    if options.asks_numba and not options.changes_files:
        analyses = work.with_numba(analyses)
    if options.baseline:
        analyses = against(analyses, Path(options.baseline))
    if options.changes_files:
        # start-up: only --fix and --diff change files
        from porter.commands.fixing import change

        analyses, done = change(analyses, options, work.again)
        if done is not None:
            return done
        if options.asks_numba:
            analyses = work.with_numba(analyses)
    out = sys.stderr if options.changes_files and "-" in options.paths else sys.stdout
    if analyses or not sources.problems or options.output_format in ("json", *FORMATS):
        # for a wrong path, its error says everything; scripts still get their format
        _write(_text(analyses, options, config, out), options, out)
    problems = [*sources.problems, *(p for a in analyses for p in a.problems)]
    for path in sources.skipped:
        print(f"skipped: {path}", file=sys.stderr)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        return FAILED
    found = any(
        d.severity is not Severity.ADVICE or options.strict for a in analyses for d in a.diagnostics
    )
    return FOUND if found and not options.exit_zero else FINE


class _Work:
    """How this run analyzes files."""

    def __init__(self, options: AnalyzeOptions, config: Config) -> None:
        self.options, self.config = options, config
        self.question = Question(
            config.signatures,
            options.functions,
            config.allow_serial,
            config.cost,
            options.everything,
        )
        self.cache = None
        if not options.no_cache:
            self.cache = Cache(_cache_folder(config), self.question)

    def on(self, files: Sequence[SourceFile]) -> list[Analysis]:
        """What is said of each file, as far as it is selected."""
        found = analyze_files(files, self.question, self.cache)
        return [selected(a, self._selection(a.source.path)) for a in found]

    def again(self, source: SourceFile) -> Analysis:
        """What is said of a file whose text was changed."""
        return self.on([source])[0]

    def with_numba(self, analyses: Sequence[Analysis]) -> list[Analysis]:
        """The analyses with Numba's own word."""
        # start-up: most runs do not ask Numba
        from porter.numba_report.command import ask_numba

        return ask_numba(analyses, self.options, self.config.signatures, self._selection)

    def _selection(self, path: str) -> Selection:
        ignore = (*self.options.ignore, *self.config.ignore, *self.config.ignored_in(path))
        return Selection(self.options.select or self.config.select, ignore)


def _cache_folder(config: Config) -> Path:
    if config.cache_folder is None:
        return default_folder()
    return config.folder / Path(config.cache_folder).expanduser()


def _check_codes(options: AnalyzeOptions, config: Config) -> None:
    listed = [c for codes in config.per_file_ignores.values() for c in codes]
    prefixes = [*options.select, *options.ignore, *config.select, *config.ignore, *listed]
    if not prefixes:
        return

    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in all_rules()):
            hint = suggestion(prefix.upper(), all_rules()) or "; see `porter rules`"
            raise UsageError(f"no rule has a code that starts with {prefix}{hint}")


def _show(options: AnalyzeOptions, config: Config) -> int:
    rows = settings(config, {"select": options.select, "ignore": options.ignore})
    if options.no_cache:
        cache = ("cache-folder", "", "command line")
    else:
        origin = next(origin for name, _, origin in rows if name == "cache-folder")
        cache = ("cache-folder", str(_cache_folder(config)), origin)
    rows = [cache if r[0] == "cache-folder" else r for r in rows]
    text = to_json(as_record(rows)) if options.output_format == "json" else as_text(rows)
    _write(text, options, sys.stdout)
    return FINE


def _check_names(options: AnalyzeOptions, analyses: Sequence[Analysis], incomplete: bool) -> None:
    known = {name for a in analyses for name in a.names}
    broken = any(d.code == "PRT900" for a in analyses for d in a.diagnostics)
    for name in options.functions:
        if name not in known and not incomplete and not broken:
            hint = suggestion(name, sorted(known))
            raise UsageError(f"no function `{name}` in {', '.join(options.paths)}{hint}")


def _text(
    analyses: Sequence[Analysis], options: AnalyzeOptions, config: Config, out: TextIO
) -> str:
    if options.output_format == "json":
        return as_json(analyses, options.statistics)
    if options.output_format in FORMATS:
        return FORMATS[options.output_format](analyses, config.signatures)
    if options.statistics:
        return statistics([d for a in analyses for d in a.diagnostics])
    color = not options.output_file and wants_color(out)
    more = ""
    if options.types or options.raw:
        more = as_types(analyses, color) if options.types else ""
        more += as_raw(analyses) if options.raw else ""
    if options.output_format == "concise":
        return as_concise(analyses) + more
    return as_full(analyses, color) + more


def _write(text: str, options: AnalyzeOptions, out: TextIO) -> None:
    if options.output_file is None:
        out.write(text)
        return
    try:
        Path(options.output_file).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{options.output_file}: {(error.strerror or '').lower()}") from error
