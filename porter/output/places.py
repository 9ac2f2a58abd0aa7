"""Where a finding is for tools that show files of a repository: relative URIs, notebook lines."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import quote

from porter.diagnostics import Span
from porter.source.files import SourceFile


@cache
def repository(start: Path) -> Path:
    """The folder that holds `.git` at or above a folder; that folder itself if there is none."""
    return next((p for p in (start, *start.parents) if (p / ".git").exists()), start)


def relative(path: str) -> str | None:
    """A path from the root of the repository that we run in, with `/`; None outside of it."""
    here = Path.cwd()
    try:
        # symlinks are left as they are: the tool knows the file by the name it was given
        return Path(_normal(here / path)).relative_to(repository(here)).as_posix()
    except ValueError:
        return None


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1] or parts
        else:
            parts.append(part)
    return str(Path(*parts))


def shown(path: str) -> str:
    """A path from the repository's root, or the absolute path outside of it."""
    return relative(path) or Path(_normal(Path.cwd() / path)).as_posix()


def uri(path: str) -> str:
    """`shown` as a URI; a file outside of the repository has an absolute one."""
    inside = relative(path)
    if inside is not None:
        return quote(inside)
    return Path(_normal(Path.cwd() / path)).as_uri()


def region(file: SourceFile, span: Span) -> Span | None:
    """A span of the file as it is on disk: None if that cannot be told.

    A notebook is JSON on disk, where the line that holds a line of a cell is all there is.
    """
    cell = file.cell_of(span.line)
    if cell is None:
        return span
    starts = _cell_lines(file.path)
    inside = starts[cell.number - 1] if cell.number <= len(starts) else ()
    if not inside:
        return None
    at = [inside[min(n - cell.start, len(inside) - 1)] for n in (span.line, span.end_line)]
    return Span(at[0], 1, at[1], 1)


@cache
def _cell_lines(path: str) -> list[tuple[int, ...]]:
    """For each code cell of a notebook, the line of the file that holds each of its lines."""
    try:
        raw = Path(path).read_text("utf-8")
        cells = json.loads(raw)["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found: list[tuple[int, ...]] = []
    at = 0
    for cell in cells:
        match = _source_pattern(cell["source"]).search(raw, at)
        if match is None:
            return []
        at = match.end()
        if cell["cell_type"] == "code":
            found.append(_lines(raw, match, cell["source"]))
    return found


def _source_pattern(source: str | list[str]) -> re.Pattern[str]:
    """What `"source": [...]` looks like in the file, however it is indented and escaped."""
    if isinstance(source, str):
        return re.compile(rf'"source"\s*:\s*({_text(source)})')
    items = r"\s*,\s*".join(f"({_text(s)})" for s in source)
    return re.compile(rf'"source"\s*:\s*\[\s*{items}\s*\]')


def _text(item: str) -> str:
    forms = dict.fromkeys((json.dumps(item), json.dumps(item, ensure_ascii=False)))
    return "|".join(re.escape(f) for f in forms)


def _lines(raw: str, match: re.Match[str], source: str | list[str]) -> tuple[int, ...]:
    if isinstance(source, str):
        line = raw.count("\n", 0, match.start(1)) + 1
        return (line,) * (source.count("\n") + 1)
    return tuple(raw.count("\n", 0, match.start(n + 1)) + 1 for n in range(len(source)))
