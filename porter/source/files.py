"""From the PATHs of a command to texts: files, directories, notebooks, standard input."""

from __future__ import annotations

import io
import os
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from porter.diagnostics import UsageError
from porter.source.regular import (
    MOST,
    MOST_DATA,
    NotRegular,
    read_regular,
    read_regular_text,
)
from porter.source.text import split_lines

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from porter.source.notebook import BrokenCell, Cell

SUFFIXES = (".py", ".ipynb")
#: folders never entered, whatever .gitignore says
SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", "__pycache__", "node_modules"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints", "site-packages"}
)


@dataclass(frozen=True)
class SourceFile:
    """A file as users name it, and its Python text (a notebook's code cells, joined).

    `notebook` is the JSON of a notebook, empty for other files.
    """

    path: str
    text: str
    cells: tuple[Cell, ...] = ()
    broken: tuple[BrokenCell, ...] = ()
    encoding: str = "utf-8"
    notebook: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends."""
        return split_lines(self.text)

    @cached_property
    def _locked(self) -> frozenset[int]:
        if not self.notebook:
            return frozenset()
        from porter.source.notebook import locked_lines

        return locked_lines(self.notebook, self.cells, self.lines)

    @cached_property
    def _lowered(self) -> frozenset[int]:
        """Lines whose columns are not those of the tree."""
        from porter.source.newer import changed_lines

        return changed_lines(self.text)

    @property
    def has_magics(self) -> bool:
        """Whether lines of a notebook were commented out, because they are not Python."""
        return bool(self._locked)

    def may_change(self, first: int, last: int) -> bool:
        """Whether lines stand in the file as they are in the text, and in one cell."""
        if not self._lowered.isdisjoint(range(first, last + 1)):
            return False
        if not self.notebook:
            return True
        if self.cell_of(first) is not self.cell_of(last):
            return False
        return self._locked.isdisjoint(range(first, last + 1))

    def changed(self, text: str) -> SourceFile:
        """The file with another text (of a notebook, other JSON)."""
        return _source(self.path, text, self.encoding)

    def cell_of(self, line: int) -> Cell | None:
        """The notebook cell that holds a line of the text; None outside notebooks."""
        return next((c for c in reversed(self.cells) if c.start <= line), None)

    def place(self, line: int) -> tuple[str, int]:
        """The name and line to show for a line of the text: in a notebook, those of the cell."""
        cell = self.cell_of(line)
        if cell is None:
            return self.path, line
        return f"{self.path}:cell {cell.number}", line - cell.start + 1


@dataclass(frozen=True)
class Sources:
    """What was read, and one plain sentence for each thing that could not be.

    `skipped` was found in a folder and is nothing to read: a pipe, a broken link, a huge file.
    """

    files: tuple[SourceFile, ...] = ()
    problems: tuple[str, ...] = field(default=())
    skipped: tuple[str, ...] = field(default=())


class Unreadable(UsageError):
    """Something that is no file to be read; in a folder it is passed over."""


def load(
    paths: Sequence[str], stdin_filename: str | None = None, exclude: Sequence[str] = ()
) -> Sources:
    """Read every path; `exclude` holds gitignore-style patterns for files in directories.

    What cannot be read ends up in `problems`, so that one bad file does not hide the rest.
    """
    files: dict[str, SourceFile] = {}
    problems: list[str] = []
    skipped: list[str] = []
    for path in paths:
        try:
            names = [path] if path == "-" else find(path, exclude)
        except UsageError as error:
            problems.append(str(error))
            continue
        for name in names:
            try:
                file = read(name, stdin_filename)
                files.setdefault(file.path, file)
            except Unreadable as error:
                (problems if name == path else skipped).append(str(error))
            except UsageError as error:
                problems.append(str(error))
    return Sources(tuple(files.values()), tuple(problems), tuple(skipped))


def find(path: str, exclude: Sequence[str] = ()) -> list[str]:
    """The files that a path stands for, sorted; raises `UsageError` when there are none."""
    place = Path(path)
    if not os.path.lexists(place):
        raise UsageError(f"{path}: no such file or directory")
    if not place.is_dir():
        return [path]
    from pathspec import GitIgnoreSpec  # a file given by name does without it

    found = sorted(_walk(place, GitIgnoreSpec.from_lines(exclude)))
    if not found:
        raise UsageError(f"{path}: no Python files in this directory")
    return [str(p) for p in found]


def read(path: str, stdin_filename: str | None = None) -> SourceFile:
    """Read one file or, for `-`, standard input; raises `UsageError` when it is not text."""
    if path == "-":
        raw, shown = sys.stdin.buffer.read(MOST_DATA), stdin_filename or "<stdin>"
    else:
        raw, shown = _bytes(path), path
    return _source(shown, *_decode(raw, shown))


def _source(path: str, text: str, encoding: str) -> SourceFile:
    if not path.endswith(".ipynb"):
        return SourceFile(path, text, encoding=encoding)
    from porter.source.notebook import read_notebook

    joined = read_notebook(text, path)
    return SourceFile(path, joined.text, joined.cells, joined.broken, encoding, text)


def _bytes(path: str) -> bytes:
    try:
        return read_regular(path, MOST_DATA if path.endswith(".ipynb") else MOST)
    except NotRegular as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from error


def _decode(raw: bytes, path: str) -> tuple[str, str]:
    if b"\0" in raw:
        raise UsageError(f"{path}: a binary file, not Python source")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding), encoding
    except (SyntaxError, LookupError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be decoded as text; save it as UTF-8 or declare its encoding"
        ) from error


def _walk(top: Path, exclude: GitIgnoreSpec) -> Iterator[Path]:
    specs = _specs_above(top.resolve())
    for folder, subfolders, names in os.walk(top):
        here = Path(folder)
        specs = [(base, spec) for base, spec in specs if here.resolve().is_relative_to(base)]
        own = _spec(here)
        if own is not None:
            specs = [*specs, (here.resolve(), own)]
        subfolders[:] = sorted(
            d
            for d in subfolders
            if d not in SKIPPED and not _ignored(here / d, specs, exclude, top, folder=True)
        )
        for name in names:
            if name.endswith(SUFFIXES) and not _ignored(here / name, specs, exclude, top):
                yield here / name


def _spec(folder: Path) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(read_regular_text(folder / ".gitignore").splitlines())
    except (OSError, UnicodeDecodeError):
        return None


def _specs_above(top: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The .gitignore files above a folder, up to the root of its repository."""
    root = next((p for p in (top, *top.parents) if (p / ".git").exists()), None)
    if root is None or root == top:
        return []
    above = [p for p in reversed(top.parents) if p.is_relative_to(root)]
    return [(p, spec) for p in above if (spec := _spec(p)) is not None]


def _ignored(
    path: Path,
    specs: list[tuple[Path, GitIgnoreSpec]],
    exclude: GitIgnoreSpec,
    top: Path,
    folder: bool = False,
) -> bool:
    end = "/" if folder else ""
    if exclude.match_file(path.relative_to(top).as_posix() + end):
        return True
    full = path.parent.resolve() / path.name
    # the nearest .gitignore that speaks of the path decides
    for base, spec in reversed(specs):
        verdict = spec.check_file(full.relative_to(base).as_posix() + end).include
        if verdict is not None:
            return bool(verdict)
    return False
