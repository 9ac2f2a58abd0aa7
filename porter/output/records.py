"""What the commands say, as the JSON that scripts read."""

from __future__ import annotations

import json
from typing import Any

from porter.diagnostics import Diagnostic, Edit
from porter.source.files import SourceFile


def diagnostic_record(diagnostic: Diagnostic, file: SourceFile | None = None) -> dict[str, Any]:
    """One diagnostic; in a notebook, lines count within the cell, whose number is added."""
    span = diagnostic.span
    start = file.cell_of(span.line) if file is not None else None
    shift = start.start - 1 if start is not None else 0
    fix = diagnostic.fix
    record: dict[str, Any] = {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "path": diagnostic.path,
        "line": span.line - shift,
        "column": span.column,
        "end_line": span.end_line - shift,
        "end_column": span.end_column,
        "function": diagnostic.function,
        "fix": None,
        "url": f"docs/rules/{diagnostic.code}.md",
    }
    if fix is not None:
        record["fix"] = {**_edit(Edit(fix.span, fix.text), shift), "safe": fix.safe}
        if fix.also:
            record["fix"]["also"] = [_edit(e, shift) for e in fix.also]
    if start is not None:
        record["cell"] = start.number
    return record


def _edit(edit: Edit, shift: int) -> dict[str, Any]:
    return {
        "text": edit.text,
        "line": edit.span.line - shift,
        "column": edit.span.column,
        "end_line": edit.span.end_line - shift,
        "end_column": edit.span.end_column,
    }


def to_json(data: Any) -> str:
    """Indented JSON with a newline at its end."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
