"""Findings as SARIF 2.1.0, the interchange format of static analysis.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import porter
from porter.diagnostics import Diagnostic, Fix, Severity, Span
from porter.output.places import region, relative, repository, uri
from porter.output.records import to_json
from porter.rules.base import Rule
from porter.rules.engine import Analysis
from porter.rules.registry import all_rules
from porter.source.files import SourceFile

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "SRCROOT"
FINGERPRINT = "porter/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}

Json = dict[str, Any]


def as_sarif(analyses: Sequence[Analysis]) -> str:
    """One run: the rules that found something, and a result for each finding."""
    found = [(a.source, d) for a in analyses for d in a.diagnostics]
    known = all_rules()
    codes = sorted({d.code for _, d in found if d.code in known})
    problems = [p for a in analyses for p in a.problems]
    run: Json = {
        "tool": {
            "driver": {
                "name": "porter",
                "version": porter.__version__,
                "semanticVersion": porter.__version__,
                "rules": [_rule(known[c]) for c in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": repository(Path.cwd()).as_uri().rstrip("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": p}} for p in problems
                ],
            }
        ],
        "artifacts": [_artifact(a.source) for a in analyses],
        "results": list(_results(found, codes)),
    }
    return to_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


# -- rules ------------------------------------------------------------------------------------


def _rule(rule: type[Rule]) -> Json:
    page = inspect.cleandoc(rule.__doc__ or "")
    return {
        "id": rule.code,
        "name": "".join(w.capitalize() for w in rule.name.split("-")),
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": rule.summary()},
        "help": {"text": _plain(page), "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["cuda", "numba", "performance"]},
    }


def _plain(markdown: str) -> str:
    """A page for tools that show no Markdown: without its headings' and fences' marks."""
    lines = [x for x in markdown.splitlines() if not x.startswith("```")]
    return "\n".join(re.sub(r"^#+ ", "", x) for x in lines)


# -- results ----------------------------------------------------------------------------------


def _results(found: list[tuple[SourceFile, Diagnostic]], codes: list[str]) -> Iterator[Json]:
    seen: Counter[str] = Counter()
    for file, one in found:
        message = f"{one.message}\n{one.help}" if one.help else one.message
        known = _known_by(file, one)
        # equal findings on equal lines are told apart by their order
        seen[known] += 1
        result: Json = {"ruleId": one.code}
        if one.code in codes:
            result["ruleIndex"] = codes.index(one.code)
        result |= {
            "level": _LEVELS[one.severity],
            "message": {"text": message},
            "locations": [_location(file, one)],
            "partialFingerprints": {FINGERPRINT: f"{_hash(known)}:{seen[known]}"},
        }
        notes = [
            {"id": n, **_physical(file, note.span), "message": {"text": note.text}}
            for n, note in enumerate(one.notes, 1)
        ]
        if notes:
            result["relatedLocations"] = notes
        # the text of a cell is not the text of the notebook's file
        if one.fix is not None and not file.cells:
            result["fixes"] = [_fix(file, one.fix)]
        yield result


def _known_by(file: SourceFile, one: Diagnostic) -> str:
    """What stays the same when lines move: the marked lines without their indentation."""
    lines = file.lines[one.span.line - 1 : one.span.end_line]
    text = "\n".join(" ".join(x.split()) for x in lines)
    return "\0".join((one.code, uri(file.path), one.function, text))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _location(file: SourceFile, one: Diagnostic) -> Json:
    location = _physical(file, one.span)
    cell = file.cell_of(one.span.line)
    logical: list[Json] = []
    if cell is not None:
        name = f"cell {cell.number}, line {one.span.line - cell.start + 1}"
        logical.append({"name": name, "kind": "module"})
    if one.function:
        name = one.function.rpartition(".")[2]
        logical.append({"name": name, "fullyQualifiedName": one.function, "kind": "function"})
    if logical:
        location["logicalLocations"] = logical
    return location


def _physical(file: SourceFile, span: Span) -> Json:
    place: Json = {"artifactLocation": _file(file.path)}
    on_disk = region(file, span)
    if on_disk is not None:
        place["region"] = _lines(on_disk) if file.cells else _region(on_disk)
    return {"physicalLocation": place}


def _file(path: str) -> Json:
    inside = relative(path) is not None
    return {"uri": uri(path), **({"uriBaseId": ROOT} if inside else {})}


def _artifact(file: SourceFile) -> Json:
    if file.cells:
        return {"location": _file(file.path), "mimeType": "application/x-ipynb+json"}
    return {"location": _file(file.path), "sourceLanguage": "python"}


def _lines(span: Span) -> Json:
    return {"startLine": span.line, "endLine": span.end_line}


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(file: SourceFile, fix: Fix) -> Json:
    replacements = [
        {"deletedRegion": _region(e.span), "insertedContent": {"text": e.text}} for e in fix.edits
    ]
    text = "Apply the fix" if fix.safe else "Apply the fix, which may change what the code does"
    return {
        "description": {"text": text},
        "artifactChanges": [{"artifactLocation": _file(file.path), "replacements": replacements}],
        "properties": {"safe": fix.safe},
    }
