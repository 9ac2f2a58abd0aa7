"""What a recorded trace says of the functions of one file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from porter.diagnostics import UsageError
from porter.trace.place import find_trace

if TYPE_CHECKING:
    # most files have no trace
    from porter.trace.record import Trace, TracedFunction, TracedSignature


def traced_in(path: str) -> Mapping[str, TracedFunction]:
    """The recorded functions of a file, by name; none without a trace that can be read."""
    found = trace_for(path)
    if found is None:
        return {}
    return _by_file(found[0]).get(str(Path(path).resolve()), {})


def traced_types(path: str) -> dict[str, dict[str, str]]:
    """The types of the parameters of a file's recorded functions, by their names."""
    found = {}
    for name, function in traced_in(path).items():
        signature = main_signature(function)
        if signature is not None:
            types = split_types(signature.types)
            if len(types) == len(function.parameters):
                found[name] = dict(zip(function.parameters, types, strict=True))
    return found


def split_types(text: str) -> list[str]:
    """`float64[:, ::1], int64` as its two types."""
    parts: list[str] = []
    depth = 0
    for piece in text.split(", ") if text else ():
        if depth:
            parts[-1] += f", {piece}"
        else:
            parts.append(piece)
        depth += piece.count("[") - piece.count("]")
    return parts


def trace_for(path: str) -> tuple[Path, Trace] | None:
    """The trace that holds for a file, and where it is."""
    folder = Path.cwd() if path == "-" else Path(path).resolve().parent
    file = _find(folder)
    trace = None if file is None else _read(file)
    return None if file is None or trace is None else (file, trace)


def main_signature(function: TracedFunction) -> TracedSignature | None:
    """The types in which most of the function's time was spent."""
    timed = [(sum(s.seconds for s in k.shapes), k.calls, k) for k in function.signatures]
    return max(timed, key=lambda t: t[:2])[2] if timed else None


# a run of porter asks for every file of a tree: the trace is looked for once in each folder
@cache
def _find(folder: Path) -> Path | None:
    return find_trace(str(folder))


@cache
def _read(file: Path) -> Trace | None:
    """The trace; a warning and None if it is none: what a command was asked for needs no trace."""
    # start-up: most projects have no trace
    from porter.trace.record import read_trace

    try:
        return read_trace(file)
    except UsageError as error:
        print(f"warning: {error}", file=sys.stderr)
        return None


@cache
def _by_file(file: Path) -> dict[str, dict[str, TracedFunction]]:
    root = file.parent.parent
    found: dict[str, dict[str, TracedFunction]] = {}
    trace = _read(file)
    for function in trace.functions if trace else ():
        path = str((root / function.path).resolve())
        found.setdefault(path, {}).setdefault(function.name, function)
    return found


def forget() -> None:
    """Look for traces anew: in a process that lives on, one may have been written meanwhile."""
    for known in (_find, _read, _by_file):
        known.cache_clear()
