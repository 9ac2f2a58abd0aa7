"""What `analyze` changes in files: --fix, --diff and --add-ignore."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from porter.diagnostics import UsageError
from porter.options import AnalyzeOptions
from porter.rules.engine import Analysis
from porter.rules.fixes import chosen_edits, edited
from porter.rules.ignoring import ignore_edits
from porter.source.files import SourceFile

#: how often the fixes of a file are looked at again: one may make room for another
MAX_PASSES = 10

Again = Callable[[SourceFile], Analysis]


def change(
    analyses: Sequence[Analysis], options: AnalyzeOptions, again: Again
) -> tuple[list[Analysis], int | None]:
    """Write the changes, or print them as a diff; `again` analyzes a changed file.

    Returns what is left to report, and the exit code if nothing is to be reported.  Raises
    UsageError for a file that cannot be written.
    """
    changed = False
    left = []
    for before in analyses:
        after, fixed, ignored = _changed(before, options, again)
        new = _whole(after.source) != _whole(before.source)
        changed = changed or new
        if options.diff:
            sys.stdout.writelines(_diff(before.source, after.source))
            continue
        if before.source.path in _stdin(options):
            sys.stdout.write(_whole(after.source))
        elif new:
            _write(after.source)
        for count, word in ((fixed, "fixed"), (ignored, "ignored")):
            if count:
                print(f"{before.source.path}: {count} {word}", file=sys.stderr)
        left.append(after)
    if options.diff:
        return [], int(changed and not options.exit_zero)
    return left, None


def _stdin(options: AnalyzeOptions) -> tuple[str, ...]:
    return (options.stdin_filename or "<stdin>",) if "-" in options.paths else ()


def _changed(
    analysis: Analysis, options: AnalyzeOptions, again: Again
) -> tuple[Analysis, int, int]:
    """The analysis after the changes, how many findings were fixed and how many are ignored."""
    fixed = ignored = 0
    for _ in range(MAX_PASSES if options.fix or not options.add_ignore else 0):
        edits, count = chosen_edits(analysis.source, analysis.diagnostics, options.unsafe_fixes)
        if not count:
            break
        after = again(analysis.source.changed(edited(analysis.source, edits)))
        if _broken(after) > _broken(analysis):
            raise UsageError(f"{analysis.source.path}: the fixes conflict, so it is "
                             "unchanged; please report this with the file")  # fmt: skip
        analysis, fixed = after, fixed + count
    if options.add_ignore:
        edits = ignore_edits(analysis.source, analysis.diagnostics)
        if edits:
            after = again(analysis.source.changed(edited(analysis.source, edits)))
            ignored = len(analysis.diagnostics) - len(after.diagnostics)
            analysis = after
    return analysis, fixed, ignored


def _broken(analysis: Analysis) -> int:
    return sum(d.code == "PRT900" for d in analysis.diagnostics)


def _whole(source: SourceFile) -> str:
    return source.notebook or source.text


def _write(source: SourceFile) -> None:
    try:
        Path(source.path).write_bytes(_whole(source).encode(source.encoding))
    except OSError as error:
        raise UsageError(f"{source.path}: {(error.strerror or '').lower()}") from error


def _diff(before: SourceFile, after: SourceFile) -> list[str]:
    old, new = (s.text.splitlines(keepends=True) for s in (before, after))
    lines = difflib.unified_diff(old, new, before.path, before.path)
    return [n if n.endswith("\n") else f"{n}\n\\ No newline at end of file\n" for n in lines]
