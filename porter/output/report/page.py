"""`porter analyze --output-format html`: one file that holds everything it shows."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

import porter
from porter.codegen.templates import template_folder
from porter.diagnostics import Diagnostic, Fix
from porter.output.changes import changes
from porter.output.report.generated import Generated, generate
from porter.output.report.lines import LABELS, first_lines, kinds, parsed, statements
from porter.output.report.numba import numba_record
from porter.output.report.tokens import coloured
from porter.rules.engine import Analysis
from porter.rules.registry import all_rules
from porter.rules.verdicts import Verdict
from porter.source.files import SourceFile

Json = dict[str, Any]
SEVERITIES = ("error", "warning", "advice")
VERDICTS = ("convertible", "partly", "refused", "kernel")


def as_html(
    analyses: Sequence[Analysis],
    signatures: Mapping[str, str] | None = None,
) -> str:
    """The report on all files, with kernels for the `signatures` of the configuration."""
    shown = [a for a in analyses if a.diagnostics or a.listed or a.numba]
    shown = shown or list(analyses)[:1]
    files = [_file(a, signatures or {}) for a in shown]
    found = [d for a in analyses for d in a.diagnostics]
    folder = template_folder()
    style, script = ((folder / f"report.{end}").read_text("utf-8") for end in ("css", "js"))
    jinja = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    severities = Counter(d.severity.value for d in found)
    verdicts = Counter(v.verdict for a in analyses for v in a.listed)
    return jinja.get_template("report.html.j2").render(
        version=porter.__version__,
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(_json({"files": files, "labels": LABELS})),
        severities=[(s, severities[s]) for s in SEVERITIES],
        verdicts=[(v, verdicts[v]) for v in (*VERDICTS, *sorted(set(verdicts) - set(VERDICTS)))],
        codes=sorted({(d.code, d.name) for d in found}),
        paths=[f["path"] for f in files],
        analyzed=len(analyses),
        rules=_pages({d.code for d in found}),
    )


def _hash(text: str) -> str:
    """What the page's policy knows its own script and style by: no other runs."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(data: Json) -> str:
    """JSON that may stand in a script element: nothing in it ends that element."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _pages(codes: set[str]) -> list[tuple[str, str, Markup]]:
    """Code, name and page of each rule that found something."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return [
        (code, rule.name, Markup(markdown.render(inspect.cleandoc(rule.__doc__ or ""))))
        for code, rule in all_rules().items()
        if code in codes
    ]


# -- one file ---------------------------------------------------------------------------------


def _file(analysis: Analysis, signatures: Mapping[str, str]) -> Json:
    source = analysis.source
    generated = generate(source, analysis.functions, signatures)
    tree = parsed(source.text)
    owners, tops = statements(tree), first_lines(tree)
    return {
        "path": source.path,
        "lines": coloured(source.lines),
        "places": _places(source),
        "kinds": kinds(analysis, owners, generated),
        # only where a statement goes over several lines
        "starts": {line: start for line, start in owners.items() if line != start},
        "functions": [_function(v, tops.get(v.line, v.line)) for v in analysis.listed],
        "findings": [_finding(d, source) for d in analysis.diagnostics],
        "problems": list(analysis.problems),
        "module": _module(generated),
        "numba": numba_record(analysis.numba, source),
    }


def _places(source: SourceFile) -> list[list[int]] | None:
    """In a notebook, the cell of each line and its number there; 0 between cells."""
    if not source.cells:
        return None
    found = []
    for line in range(1, len(source.lines) + 1):
        cell = source.cell_of(line)
        inside = cell is not None and line < cell.start + cell.size
        found.append([cell.number, line - cell.start + 1] if cell and inside else [0, 0])
    return found


def _function(verdict: Verdict, top: int) -> Json:
    return {
        "name": verdict.name,
        "top": top,
        "line": verdict.line,
        "end": verdict.end_line,
        "verdict": verdict.verdict,
        "stage": verdict.stage,
        "reasons": list(verdict.reasons),
        "signature": verdict.signature,
        "assumed": list(verdict.assumed),
        "because": verdict.because,
        "effort": verdict.effort,
    }


def _finding(found: Diagnostic, source: SourceFile) -> Json:
    span = found.span
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "message": found.message,
        "help": found.help,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "function": found.function,
        "notes": [{"line": n.span.line, "text": n.text} for n in found.notes],
        "fix": _fix(found.fix, source) if found.fix is not None else None,
    }


def _fix(fix: Fix, source: SourceFile) -> Json:
    lines = [[sign, line, text] for sign, line, text in changes(source, fix)]
    # the text of a cell is not the text of the notebook's file: --fix leaves it alone
    return {"safe": fix.safe, "applies": not source.cells, "lines": lines}


def _module(generated: Generated | None) -> Json | None:
    if generated is None:
        return None
    return {
        "lines": coloured(generated.lines),
        "from": list(generated.sources),
        "where": generated.where,
        "failed": list(generated.failed),
    }
