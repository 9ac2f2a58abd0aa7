"""Findings as GitHub's workflow commands, which become annotations of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.diagnostics import Diagnostic, Severity
from porter.output.frames import concise_line
from porter.output.places import region, shown
from porter.rules.engine import Analysis
from porter.source.files import SourceFile

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def as_github(analyses: Sequence[Analysis]) -> str:
    """A command for each finding; its text is also what the log shows."""
    return "".join(f"{_command(d, a.source)}\n" for a in analyses for d in a.diagnostics)


def _command(found: Diagnostic, file: SourceFile) -> str:
    span = region(file, found.span)
    properties: dict[str, object] = {"title": f"porter ({found.code})", "file": shown(found.path)}
    if span is not None:
        properties["line"] = span.line
        if span.end_line > span.line:
            # GitHub takes columns for those of one line
            properties["endLine"] = span.end_line
        elif not file.cells:
            properties |= {"col": span.column, "endLine": span.line, "endColumn": span.end_column}
    message = concise_line(found, file)
    if found.help:
        message += f"\nhelp: {found.help}"
    fields = ",".join(f"{k}={_property(v)}" for k, v in properties.items())
    return f"::{_COMMANDS[found.severity]} {fields}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
