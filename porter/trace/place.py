"""Where a recorded trace is: in `.porter/trace.json`, at a file or in a folder above it."""

from __future__ import annotations

from pathlib import Path

FOLDER, NAME, COUNTS, INPUTS = ".porter", "trace.json", "counts.json", "inputs"


def trace_file(folder: Path) -> Path:
    """Where the trace of a folder is."""
    return folder / FOLDER / NAME


def counts_file(folder: Path) -> Path:
    """Where the counts of a folder are."""
    return folder / FOLDER / COUNTS


def find_trace(path: str) -> Path | None:
    """The trace nearest to a file or folder (`-`: the current one), from there upwards."""
    return nearest(path, NAME)


def nearest(path: str, name: str) -> Path | None:
    """The file of this name in the nearest `.porter`."""
    start = Path.cwd() if path == "-" else Path(path).resolve()
    folders = (start, *start.parents) if start.is_dir() else tuple(start.parents)
    return next((f for folder in folders if (f := folder / FOLDER / name).exists()), None)
