"""Numba's own word on a file, for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from porter.numba_report.model import Compiled, LiftedLoop
from porter.source.files import SourceFile

NONE, MACHINE, LIFTED, OBJECTS, FAILED = ".nloe"
_MODES = {
    "nopython": "machine code",
    "object": "Python objects",
    "lifted": "Python objects around lifted loops",
    "failed": "rejected",
    "unknown": "not compiled",
}
#: severity, as the style sheet colours it, and text
Note = tuple[int, str, str, str]


def numba_record(compiled: Sequence[Compiled], source: SourceFile) -> dict[str, Any] | None:
    """A letter per line for how it runs, and what is said of lines; None without anything."""
    if not compiled:
        return None
    letters = [NONE] * (len(source.lines) + 1)
    for one in compiled:
        for line in range(one.line, min(one.end_line + 1, len(letters))):
            letters[line] = _worse(letters[line], letter(one, line))
    notes = dict.fromkeys(note for one in compiled for note in _notes(one))
    return {
        "kinds": "".join(letters[1:]),
        "compiled": [_record(c) for c in compiled],
        "notes": [{"line": n, "severity": s, "text": t, "help": h} for n, s, t, h in notes],
    }


def letter(one: Compiled, line: int) -> str:
    """How a line of a function runs: one of the letters above."""
    if one.error is not None and one.mode == "failed":
        return FAILED if line == one.error.line else NONE
    loop = next((x for x in one.loops if x.line <= line <= x.end_line), None)
    if loop is not None and loop.nopython is not False:
        return LIFTED
    if line in one.object_lines:
        return OBJECTS
    return MACHINE if one.mode == "nopython" and line in one.types else NONE


def _worse(a: str, b: str) -> str:
    """Of several signatures, the one that runs slowest counts."""
    return max(a, b, key=(NONE + MACHINE + LIFTED + OBJECTS + FAILED).index)


def _notes(one: Compiled) -> Iterator[Note]:
    if one.error is not None:
        severity = "error" if one.mode == "failed" else "warning"
        yield one.error.line, severity, one.error.sentence, one.error.help
    for loop in one.loops:
        yield loop.line, "advice" if loop.nopython is not False else "warning", _loop(loop), ""


def _loop(loop: LiftedLoop) -> str:
    if loop.nopython is None:
        return "this loop is taken out; its types are known when it runs: use --run"
    if loop.nopython:
        return f"this loop is lifted to machine code for {loop.signature}".removesuffix(" for ")
    return f"this loop is not lifted: {loop.reason}".removesuffix(": ")


def _record(one: Compiled) -> dict[str, Any]:
    target = "CUDA" if one.target == "cuda" else "CPU"
    mode = _MODES.get(one.mode, one.mode)
    how = f"({one.signature}): {mode}" if one.mode != "unknown" else mode
    return {
        "name": one.name,
        "line": one.line,
        "target": target,
        "signature": one.signature,
        "text": f"{target} {how}{', types assumed' if one.assumed else ''}",
        "types": {str(line): list(texts) for line, texts in one.types.items()},
    }
