"""Helpers in other files of the project: found by where they stand, read, never imported."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import libcst as cst

from porter.resolve.globals import Globals, Origin
from porter.resolve.values import Function, Module
from porter.source.module import SourceModule
from porter.source.others import looked_for
from porter.source.regular import read_regular_text

#: folders above a file in which its imports are looked for
MAX_ABOVE = 4
_LIBRARIES = {"numpy", "numba", "scipy", "cupy"} | sys.stdlib_module_names


def locate(path: str, origin: Origin, name: str | None = None) -> Path | None:
    """The file that an import in the file `path` means, if it is one of the project."""
    level, module = origin.level, origin.module
    parts = [p for p in (*module.split("."), name) if p]
    if not parts or (not level and parts[0] in _LIBRARIES):
        return None
    here = Path(path).resolve().parent
    above = [here, *here.parents]
    roots = above[level - 1 : level] if level else above[:MAX_ABOVE]
    for root in roots:
        for file in (
            root.joinpath(*parts).with_suffix(".py"),
            root.joinpath(*parts, "__init__.py"),
        ):
            looked_for(file)
            if file.is_file() and file != Path(path).resolve():
                return file
    return None


@lru_cache(maxsize=32)
def globals_at(file: Path, changed: int) -> Globals | None:
    """The names of another file; None if it cannot be read."""
    try:
        scope = Globals(SourceModule(read_regular_text(file), str(file)))
    except (OSError, UnicodeDecodeError, SyntaxError, cst.ParserSyntaxError):
        return None
    scope.foreign = True
    return scope


def _open(file: Path | None, scope: Globals) -> Globals | None:
    """The names of another file, whose values are found as those of `scope` are."""
    other = None if file is None else globals_at(file, file.stat().st_mtime_ns)
    if other is not None:
        mine, theirs = scope.options, other.options
        theirs.values, theirs.run_module = mine.values, mine.run_module
        theirs.verdict_only = mine.verdict_only
    return other


def imported_from(scope: Globals, name: str) -> tuple[Globals, str] | None:
    """The file's scope and the name in it that an imported name stands for."""
    origin = scope.origins.get(name)
    if origin is None or origin.name is None:
        return None
    other = _open(locate(scope.module.path, origin), scope)
    return None if other is None or not _has(other, origin.name) else (other, origin.name)


def module_named(scope: Globals, name: str) -> Globals | None:
    """The scope of a file of the project that a name imports as a module."""
    origin = scope.origins.get(name)
    if origin is None:
        return None
    return _open(locate(scope.module.path, origin, origin.name), scope)


def _has(scope: Globals, name: str) -> bool:
    return name in scope.names or name in scope.constants


def function_in(scope: Globals, name: str) -> Any:
    """A function of another file, which keeps the names around it."""
    found = scope.names.get(name)
    if isinstance(found, Function) and found.node is not None:
        return Function(f"{Path(scope.module.path).name}:{name}", found.node, scope=scope)
    return found if isinstance(found, (Function, Module)) else None
