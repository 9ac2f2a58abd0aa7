"""The recorded trace: what is in `.porter/trace.json`, written and read.

The file is JSON.  Its keys are those of the classes below; `porter_trace` is the version
of the format, which changes whenever a key changes its meaning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from porter.diagnostics import UsageError
from porter.source.regular import MOST_DATA, read_regular

VERSION = 1

#: an array's shape, an integer's value, None for everything else
Size = tuple[int, ...] | int | None


@dataclass(frozen=True)
class Sizes:
    """Calls with equal sizes: one entry for each parameter, how many, seconds in them.

    `inputs` is a file of `.porter/inputs` with the arguments of the first of them, if kept.
    """

    sizes: tuple[Size, ...]
    calls: int
    seconds: float
    inputs: str = ""


@dataclass(frozen=True)
class TracedSignature:
    """Calls with equal types, in Numba's syntax; `more` calls had sizes not listed."""

    types: str
    calls: int
    shapes: tuple[Sizes, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class TracedFunction:
    """One function of the user's: `seconds` with what it calls, `own_seconds` without.

    The arguments of at most some thousand calls are looked at, so the calls of all
    signatures may be fewer than `calls`.
    """

    path: str
    name: str
    line: int
    parameters: tuple[str, ...]
    calls: int
    seconds: float
    own_seconds: float
    signatures: tuple[TracedSignature, ...] = ()


@dataclass(frozen=True)
class Trace:
    """One run of a script; paths are relative to the folder that holds `.porter`.

    `ended` is "finished", "exit N", "raised ..." or "timed out"; `overhead` is how many of
    its `seconds` the recording took.
    """

    script: str
    args: tuple[str, ...] = ()
    ended: str = "finished"
    seconds: float = 0.0
    overhead: float = 0.0
    functions: tuple[TracedFunction, ...] = ()


def write_trace(file: Path, trace: Trace, porter: str) -> None:
    """Write a trace in one step: readers see the old file or the new one. Raises OSError."""
    data = {"porter_trace": VERSION, "porter": porter, **asdict(trace)}
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        new.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def read_trace(file: Path) -> Trace:
    """The trace in a file. Raises UsageError for anything that is not one of this version."""
    again = "run `porter trace` again, or delete it"
    try:
        data = json.loads(read_regular(file, MOST_DATA).decode("utf-8"))
        version = data["porter_trace"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(f"{file}: not a trace: {again}") from error
    if version != VERSION:
        raise UsageError(f"{file}: written by another version of porter: {again}")
    try:
        return _trace(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageError(f"{file}: not a trace: {again}") from error


def _trace(data: Mapping[str, Any]) -> Trace:
    functions = tuple(_function(f) for f in data["functions"])
    plain = {k: data[k] for k in ("script", "ended", "seconds", "overhead")}
    return Trace(**plain, args=tuple(data["args"]), functions=functions)


def _function(data: Mapping[str, Any]) -> TracedFunction:
    plain = {k: _of_kind(data[k], str) for k in ("path", "name")}
    plain |= {k: _of_kind(data[k], int) for k in ("line", "calls")}
    plain |= {k: _of_kind(data[k], (int, float)) for k in ("seconds", "own_seconds")}
    signatures = tuple(_signature(s) for s in data["signatures"])
    parameters = tuple(_of_kind(p, str) for p in data["parameters"])
    return TracedFunction(**plain, parameters=parameters, signatures=signatures)


def _of_kind(value: Any, kind: type | tuple[type, ...]) -> Any:
    """A value of the file if it is of its kind. Raises TypeError."""
    if not isinstance(value, kind) or (isinstance(value, str) and "\0" in value):
        raise TypeError(f"{value!r} has the wrong type")
    return value


def _signature(data: Mapping[str, Any]) -> TracedSignature:
    shapes = tuple(
        Sizes(
            tuple(_size(s) for s in e["sizes"]),
            int(e["calls"]),
            float(e["seconds"]),
            str(e.get("inputs", "")),
        )
        for e in data["shapes"]
    )
    return TracedSignature(str(data["types"]), int(data["calls"]), shapes, int(data["more"]))


def _size(value: Any) -> Size:
    if isinstance(value, list):
        return tuple(int(n) for n in value)
    return None if value is None else int(value)
