"""Removes an option from a decorator."""

from __future__ import annotations

import ast

from porter.diagnostics import Fix, Span
from porter.rules.model import PyFile


def without_option(file: PyFile, call: ast.Call, option: ast.keyword) -> Fix | None:
    """The call without an option, when all of it stands on one line; a safe fix, for options
    that Numba ignores."""
    if call.lineno != call.end_lineno:
        return None
    spans = sorted(file.span(n) for n in (*call.args, *call.keywords))
    at = spans.index(file.span(option))
    if at:
        start, end = spans[at - 1].end_column, spans[at].end_column
    else:
        start = spans[0].column
        end = spans[1].column if len(spans) > 1 else spans[0].end_column
    return Fix(Span(call.lineno, start, call.lineno, end), "")
