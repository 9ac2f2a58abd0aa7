"""`--baseline FILE`: findings that were there before are not reported again."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from porter.analysis.cache import write_whole
from porter.diagnostics import Diagnostic, UsageError
from porter.output.records import to_json
from porter.rules.engine import Analysis
from porter.source.regular import MOST_DATA, read_regular_text

_LINE = re.compile(r"\b(lines?) \d+")


def against(analyses: Sequence[Analysis], file: Path) -> list[Analysis]:
    """Leave out what the baseline lists; write the baseline when there is none.

    Raises UsageError when the file is no baseline or cannot be written.
    """
    if not file.exists():
        return _written(analyses, file)
    known = _read(file)
    kept = [replace(a, diagnostics=_without(a.diagnostics, known, file)) for a in analyses]
    # a run over some of the files says nothing of the others' entries
    seen = {_path(a.source.path, file) for a in analyses}
    stale = sum(n for key, n in known.items() if key.split("\t")[0] in seen)
    if stale:
        entries = "1 entry is" if stale == 1 else f"{stale} entries are"
        print(f"{file}: {entries} no longer found; delete the file to write it again",
              file=sys.stderr)  # fmt: skip
    return kept


def _written(analyses: Sequence[Analysis], file: Path) -> list[Analysis]:
    keys = sorted(_key(d, file) for a in analyses for d in a.diagnostics)
    try:
        write_whole(file, to_json(keys).encode())
    except OSError as error:
        raise UsageError(f"{file}: cannot be written as a baseline") from error
    count = "1 finding" if len(keys) == 1 else f"{len(keys)} findings"
    print(f"{file}: {count} written as the baseline", file=sys.stderr)
    return [replace(a, diagnostics=()) for a in analyses]


def _read(file: Path) -> Counter[str]:
    try:
        keys = json.loads(read_regular_text(file, MOST_DATA))
        if isinstance(keys, list) and all(isinstance(k, str) for k in keys):
            return Counter(keys)
    except (OSError, ValueError):
        pass
    raise UsageError(f"{file}: cannot be used as a baseline")


def _path(path: str, file: Path) -> str:
    """The path as seen from the baseline, so that it holds wherever porter is run."""
    try:
        return Path(os.path.relpath(path, file.resolve().parent)).as_posix()
    except ValueError:  # another drive
        return path


def _key(diagnostic: Diagnostic, file: Path) -> str:
    # lines move with every edit, so they are not part of what a finding is known by
    message = _LINE.sub(r"\1", diagnostic.message)
    return "\t".join((_path(diagnostic.path, file), diagnostic.code, diagnostic.function, message))


def _without(
    found: Sequence[Diagnostic], known: Counter[str], file: Path
) -> tuple[Diagnostic, ...]:
    kept = []
    for diagnostic in found:
        key = _key(diagnostic, file)
        if known[key] > 0:
            known[key] -= 1
        else:
            kept.append(diagnostic)
    return tuple(kept)
