"""What `porter bench --record` counted of compiled kernels: `.porter/counts.json`.

Commands that compile nothing read it.  Counts hold for the text of the source that they were made
of, and for types that are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from porter.diagnostics import UsageError
from porter.source.regular import MOST_DATA, read_regular
from porter.trace.place import COUNTS, nearest

VERSION = 1
Arguments = Mapping[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class Counted:
    """One call of a function: its arguments by parameter, shapes and integers, and what the kernels
    executed that were compiled for `arch`; `path` is relative to the folder that holds
    `.porter`, `source` the hash of that file's text."""

    path: str
    name: str
    source: str
    types: str
    arch: str
    arguments: Arguments
    launches: float
    bytes: float
    instructions: float

    @property
    def shown(self) -> str:
        """`sm_90, 2000x1000`."""
        values = self.arguments.values()
        sizes = ["x".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in values]
        return ", ".join([self.arch, *(s for s in sizes if s)])


def counted_for(path: str, name: str, source: str, types: str) -> Counted | None:
    """What was counted of a function of these types in a file with this text."""
    file = _nearest(Path.cwd() if path == "-" else Path(path).resolve().parent)
    if file is None:
        return None
    root = file.parent.parent
    for each in _read(file):
        same = (each.name, each.source, _plain(each.types)) == (name, source, _plain(types))
        if same and (root / each.path).resolve() == Path(path).resolve():
            return each
    return None


def stamp(path: str) -> str:
    """What tells whether other counts hold for a file."""
    file = _nearest(Path.cwd() if path == "-" else Path(path).resolve().parent)
    return "" if file is None else repr(_read(file))


def keep(file: Path, found: Iterable[Counted]) -> None:
    """Put counts in the place of those of the same functions.  Raises OSError."""
    own = {(c.path, c.name): c for c in (*(_read(file) if file.exists() else ()), *found)}
    data = {"porter_counts": VERSION, "functions": [asdict(c) for c in own.values()]}
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        new.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    forget()


def _plain(types: str) -> str:
    """Types without spaces and layouts."""
    return "".join(types.split()).replace("::1", ":")


@cache
def _nearest(folder: Path) -> Path | None:
    return nearest(str(folder), COUNTS)


@cache
def _read(file: Path) -> tuple[Counted, ...]:
    """The counts of a file; none where it is of another version, or no such file."""
    try:
        data = json.loads(read_regular(file, MOST_DATA).decode("utf-8"))
        if data["porter_counts"] != VERSION:
            return ()
        return tuple(_counted(each) for each in data["functions"])
    except (OSError, UsageError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()


def _counted(data: Mapping[str, Any]) -> Counted:
    arguments = {
        str(name): tuple(map(int, value)) if isinstance(value, list) else int(value)
        for name, value in data["arguments"].items()
    }
    numbers = {k: float(data[k]) for k in ("launches", "bytes", "instructions")}
    texts = {k: str(data[k]) for k in ("path", "name", "source", "types", "arch")}
    return Counted(**texts, **numbers, arguments=arguments)  # type: ignore[arg-type]


def forget() -> None:
    """Look for counts anew: in a process that lives on, some may have been written meanwhile."""
    for known in (_nearest, _read):
        known.cache_clear()
