"""The tests and examples of a project that may call a module's functions: found, never run.

What is read is limited in files and bytes, not in seconds: the same project gives the same answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path

from porter.source.files import SKIPPED, SUFFIXES
from porter.source.regular import read_regular

#: how much of a project is read
MOST_FILES = 400
MOST_BYTES = 16 << 20
_MOST_EACH = 1 << 20
_MOST_FOLDERS = 2000
_ROOTS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_FOLDERS = frozenset(
    {"test", "tests", "testing", "example", "examples", "doc", "docs", "gallery", "notebooks"}
    | {"tutorial", "tutorials", "demo", "demos", "bench", "benchmarks", "scripts"}
)
_TEST = re.compile(r"(test_.*|.*_test|conftest)\.py$")
_IMPORTS = re.compile(rb'^[ \t>."]*(?:from|import)[ \t][^\n]*', re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Caller:
    """A file that may call functions of a project, as bytes."""

    path: Path
    shown: str  # from the project's root
    data: bytes
    words: frozenset[str]  # in its imports


@dataclass(frozen=True)
class Project:
    """The tests and examples below a root, by the words that their imports have."""

    root: Path
    callers: tuple[Caller, ...] = ()
    by_word: dict[str, list[Caller]] = field(default_factory=dict)

    def importing(self, dotted: tuple[str, ...]) -> list[Caller]:
        """The files whose imports may mean a module."""
        found = {id(c): c for word in {dotted[0], dotted[-1]} for c in self.by_word.get(word, [])}
        return sorted(found.values(), key=lambda c: c.shown)


def dotted_of(path: Path) -> tuple[str, ...]:
    """The name that a module is imported by: from the outermost folder that is a package."""
    parts = () if path.name == "__init__.py" else (path.stem,)
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts, folder = (folder.name, *parts), folder.parent
    return parts or (path.stem,)


def project_of(path: str) -> Project | None:
    """The project that a file belongs to; None for standard input and files outside of any."""
    file = _resolved(path)
    root = None if file is None else _root(file.parent)
    return None if root is None else _project(root)


def callers_of(path: str) -> list[Caller]:
    """The files of the project that may call functions of a file."""
    project, file = project_of(path), _resolved(path)
    if project is None or file is None:
        return []
    return [c for c in project.importing(dotted_of(file)) if c.path != file]


def callers_stamp(path: str) -> str:
    """What identifies the files that say how the functions of a file are called."""
    total = blake2b(digest_size=16)
    for caller in callers_of(path):
        total.update(caller.shown.encode("utf-8", "surrogatepass"))
        total.update(blake2b(caller.data, digest_size=16).digest())
    return total.hexdigest()


def _resolved(path: str) -> Path | None:
    try:
        file = Path(path).resolve()
        return file if file.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


@cache
def _root(folder: Path) -> Path | None:
    found = (p for p in (folder, *folder.parents) if any((p / n).exists() for n in _ROOTS))
    return next(found, None)


@cache
def _project(root: Path) -> Project:
    callers: list[Caller] = []
    left = MOST_BYTES
    for place in _files(root):
        try:
            data = read_regular(str(place), _MOST_EACH)
        except OSError:
            continue
        left -= len(data)
        if left < 0 or len(callers) >= MOST_FILES:
            break
        lines = _IMPORTS.findall(data)
        words = frozenset(w.decode() for line in lines for w in _WORD.findall(line))
        shown = place.relative_to(root).as_posix()
        callers.append(Caller(place, shown, data, words))
    by_word: dict[str, list[Caller]] = {}
    for caller in callers:
        for word in caller.words:
            by_word.setdefault(word, []).append(caller)
    return Project(root, tuple(callers), by_word)


def _files(root: Path) -> Iterator[Path]:
    """Tests, examples, documentation: in order, so that a limit always cuts at one place."""
    for k, (folder, subfolders, names) in enumerate(os.walk(root)):
        if k >= _MOST_FOLDERS:
            return
        subfolders[:] = sorted(d for d in subfolders if d not in SKIPPED and d[0] != ".")
        inside = set(Path(folder).relative_to(root).parts) & _FOLDERS
        for name in sorted(names):
            if name.endswith(SUFFIXES) and (inside or _TEST.match(name)):
                yield Path(folder, name)


def forget() -> None:
    """Read projects again: in a process that lives on, files may have changed."""
    for known in (_root, _project):
        known.cache_clear()
