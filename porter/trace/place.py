"""Where a recorded trace is: in `.porter/trace.json`, at a file or in a folder above it."""

from __future__ import annotations

from pathlib import Path

FOLDER, NAME, INPUTS = ".porter", "trace.json", "inputs"


def trace_file(folder: Path) -> Path:
    """Where the trace of a folder is."""
    return folder / FOLDER / NAME


def find_trace(path: str) -> Path | None:
    """The trace nearest to a file or folder (`-`: the current one), from there upwards."""
    start = Path.cwd() if path == "-" else Path(path).resolve()
    folders = (start, *start.parents) if start.is_dir() else tuple(start.parents)
    return next((f for folder in folders if (f := trace_file(folder)).exists()), None)
