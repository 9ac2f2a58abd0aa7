"""Numba's own word on a file, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porter.numba_report.model import Compiled
from porter.source.files import SourceFile

NONE, MACHINE, LIFTED, OBJECTS, FAILED = ".nloe"


def numba_record(compiled: Sequence[Compiled], source: SourceFile) -> dict[str, Any] | None:
    """A letter per line for how it runs, and what each compilation says; None without any."""
    if not compiled:
        return None
    letters = [NONE] * (len(source.lines) + 1)
    for one in compiled:
        for line in range(one.line, min(one.end_line + 1, len(letters))):
            letters[line] = _worse(letters[line], _letter(one, line))
    return {"kinds": "".join(letters[1:]), "compiled": [_record(c) for c in compiled]}


def _letter(one: Compiled, line: int) -> str:
    if one.error is not None:
        return FAILED if line == one.error.line else NONE
    loop = next((x for x in one.loops if x.line <= line <= x.end_line), None)
    if loop is not None and loop.nopython is not False:
        return LIFTED
    if line in one.object_lines or (one.mode == "object" and line in one.types):
        return OBJECTS
    return MACHINE if one.mode == "nopython" and line in one.types else NONE


def _worse(a: str, b: str) -> str:
    """Of several signatures, the one that runs slowest counts."""
    return max(a, b, key=(NONE + MACHINE + LIFTED + OBJECTS + FAILED).index)


def _record(one: Compiled) -> dict[str, Any]:
    return {
        "name": one.name,
        "line": one.line,
        "target": one.target,
        "signature": one.signature,
        "mode": one.mode,
        "known": one.known,
        "error": None
        if one.error is None
        else {"line": one.error.line, "text": one.error.sentence, "help": one.error.help},
        "loops": [
            {"line": x.line, "signature": x.signature, "nopython": x.nopython, "reason": x.reason}
            for x in one.loops
        ],
        "types": {str(line): list(texts) for line, texts in one.types.items()},
    }
