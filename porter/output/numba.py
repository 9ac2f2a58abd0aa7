"""What Numba reported, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from porter.output.color import paint
from porter.rules.engine import Analysis

if TYPE_CHECKING:
    from porter.numba_report.model import Compiled

_MODES = {
    "nopython": "nopython",
    "object": "object mode",
    "lifted": "object mode",
    "failed": "rejected",
    "unknown": "not compiled",
}
_STYLES = {"nopython": "good", "object": "warning", "lifted": "warning", "failed": "error"}


def as_table(analyses: Sequence[Analysis], color: bool) -> str:
    """A line for each signature that Numba compiled, and one for each loop it lifted."""
    rows: list[tuple[str, str, str, str, str]] = []
    for analysis in analyses:
        for compiled in analysis.numba:
            rows += _rows(analysis, compiled)
    if not rows:
        return ""
    widths = [max(len(r[n]) for r in rows) for n in range(3)]
    lines = []
    for *cells, text, mode in rows:
        padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
        padded[2] = paint(padded[2], _STYLES.get(mode, "bold"), color)
        lines.append("  ".join([*padded, text]).rstrip())
    return "Reported by Numba:\n" + "".join(f"{line}\n" for line in lines) + "\n"


def as_lines(analyses: Sequence[Analysis]) -> str:
    """The same as lines of their own, each with its place."""
    rows = [r for a in analyses for c in a.numba for r in _rows(a, c)]
    return "".join(f"{at}: {name}: Numba: {mode}: {text}\n" for at, name, mode, text, _ in rows)


def _rows(analysis: Analysis, compiled: Compiled) -> list[tuple[str, str, str, str, str]]:
    path, line = analysis.source.place(compiled.line)
    returns = f" -> {compiled.returns}" if compiled.returns else ""
    text = f"({compiled.signature}){returns}" if compiled.mode != "unknown" else ""
    notes = [] if compiled.decorated else ["as if decorated with @njit"]
    notes += ["types assumed"] if compiled.assumed and compiled.mode != "unknown" else []
    if compiled.error is not None:
        at = analysis.source.place(compiled.error.line)[1]
        where = f"line {at}: " if compiled.mode == "failed" else ""
        notes.append(f"{where}{compiled.error.sentence}")
    target = "CUDA " if compiled.target == "cuda" and compiled.mode == "nopython" else ""
    mode = "CUDA" if target else _MODES[compiled.mode]
    said = "; ".join(x for x in (text, *notes) if x)
    rows = [(f"{path}:{line}", compiled.name, mode, said, compiled.mode)]
    for loop in compiled.loops:
        path, line = analysis.source.place(loop.line)
        if loop.nopython is None:
            said, style = "loop lifted; its types are known only at run time: use --run", "lifted"
        elif loop.nopython:
            said, style = f"loop lifted for {loop.signature}", "nopython"
        else:
            said, style = f"loop not lifted{': ' if loop.reason else ''}{loop.reason}", "object"
        rows.append((f"{path}:{line}", compiled.name, _MODES[style], said, style))
    return rows


def as_raw(analyses: Sequence[Analysis]) -> str:
    """Numba's own annotation of each function, under a line that says whose it is."""
    text = ""
    for analysis in analyses:
        for compiled in analysis.numba:
            if compiled.raw:
                path, line = analysis.source.place(compiled.line)
                head = f"{path}:{line} {compiled.name}({compiled.signature})"
                text += f"--- {head} ---\n{compiled.raw.rstrip()}\n\n"
    return text


#: how a line runs, by the letters of the HTML report: shown, a style, and what it means
_LETTERS = {
    "n": ("N", "good", "machine code"),
    "l": ("L", "good", "a lifted loop"),
    "o": ("O", "warning", "Python objects"),
    "e": ("!", "error", "rejected"),
}


def as_types(analyses: Sequence[Analysis], color: bool) -> str:
    """The source of each function, and under each line the types of its variables."""
    blocks: list[str] = []
    used: dict[str, None] = {}
    for analysis in analyses:
        for compiled in analysis.numba:
            if compiled.types:
                blocks.append(_typed(analysis, compiled, used, color))
    if not blocks:
        return ""
    meanings = [f"{shown} {text}" for k, (shown, _, text) in _LETTERS.items() if k in used]
    legend = f" ({', '.join(meanings)})" if meanings else ""
    return f"Numba's types{legend}:\n\n" + "\n".join(blocks) + "\n"


def _typed(analysis: Analysis, compiled: Compiled, used: dict[str, None], color: bool) -> str:
    # start-up: most runs do not ask Numba
    from porter.output.report.numba import letter

    source = analysis.source
    path, first = source.place(compiled.line)
    returns = f" -> {compiled.returns}" if compiled.returns else ""
    head = f"{path}:{first} {compiled.name}({compiled.signature}){returns}"
    text = paint(head, "bold", color) + "\n"
    last = min(max(compiled.end_line, *compiled.types), len(source.lines))
    width = len(str(max(source.place(n)[1] for n in (compiled.line, last))))
    for line in range(compiled.line, last + 1):
        kind = letter(compiled, line)
        used[kind] = None
        shown, style, _ = _LETTERS.get(kind, (" ", "bold", ""))
        code = source.lines[line - 1]
        mark = paint(shown, style, color and shown != " ")
        text += f"{source.place(line)[1]:>{width}} {mark} {code}".rstrip() + "\n"
        if line in compiled.types:
            indent = " " * (width + 3 + len(code) - len(code.lstrip()))
            text += paint(f"{indent}: {'; '.join(compiled.types[line])}", "dim", color) + "\n"
    return text


def records(analysis: Analysis, name: str, line: int) -> list[dict[str, Any]]:
    """What Numba reported on one function, with the line numbers of the rest of the JSON."""
    return [_record(analysis, c) for c in analysis.numba if (c.name, c.line) == (name, line)]


def _record(analysis: Analysis, compiled: Compiled) -> dict[str, Any]:
    """One signature; in a notebook lines count within the cell."""
    # most runs do not ask Numba
    from porter.numba_report.model import to_record

    cell = analysis.source.cell_of(compiled.line)
    shift = cell.start - 1 if cell is not None else 0
    found = to_record(compiled)
    for one in [found, *found["loops"]]:
        one["line"] -= shift
        one["end_line"] -= shift
    if found["error"]:
        found["error"]["line"] -= shift
    found["types"] = {str(int(n) - shift): t for n, t in found["types"].items()}
    found["object_lines"] = [n - shift for n in found["object_lines"]]
    return found if compiled.raw else {k: v for k, v in found.items() if k != "raw"}


def others(analyses: Sequence[Analysis]) -> list[dict[str, Any]]:
    """What Numba compiled of functions that have no verdict, such as ufuncs."""
    return [
        _record(a, c)
        for a in analyses
        for c in a.numba
        if not any((v.name, v.line) == (c.name, c.line) for v in a.functions)
    ]
