"""What is said of each source line: a letter for its verdict, and the statement it is part of."""

from __future__ import annotations

import ast

from porter.diagnostics import Diagnostic, Severity
from porter.output.report.generated import HOST, KERNEL, Generated
from porter.rules.engine import Analysis
from porter.rules.verdicts import Verdict
from porter.source import newer

#: letter, label, whether the style sheet tints the line
NONE = "."
GPU, BOTH, STAYS, DISSOLVED, ALREADY, BLOCKED, REFUSED = "gbhdkrx"
LABELS = {
    GPU: "runs on the GPU",
    BOTH: "in part on the GPU",
    STAYS: "stays on the host",
    DISSOLVED: "converts, no line of its own",
    ALREADY: "GPU code already",
    BLOCKED: "stopped by another line",
    REFUSED: "does not convert",
}


def parsed(text: str) -> ast.Module:
    """The tree of a text; an empty one if it is not Python, which the findings say."""
    try:
        return newer.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def statements(tree: ast.Module) -> dict[int, int]:
    """For each line of a statement's own text its first line; docstrings are left out."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and not _is_text(n)]
    return {line: node.lineno for node in found for line in _own_lines(node)}


def first_lines(tree: ast.Module) -> dict[int, int]:
    """For each `def` its first line, decorators included."""
    return {
        node.lineno: min([node.lineno, *(d.lineno for d in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _own_lines(node: ast.stmt) -> range:
    """The lines of a statement, of one with a body those of its header."""
    if not hasattr(node, "body"):
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    parts = [p for name in _HEADER for p in _listed(getattr(node, name, None))]
    inner = [n for p in parts for n in ast.walk(p)]
    return range(node.lineno, max([node.lineno, *(_last(n) for n in inner)]) + 1)


#: the fields that stand before the colon of a statement with a body
_HEADER = ("args", "returns", "bases", "keywords", "target", "iter", "test", "items", "subject")


def _listed(value: object) -> list[ast.AST]:
    found = value if isinstance(value, list) else [value]
    return [v for v in found if isinstance(v, ast.AST)]


def _last(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or 0


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def kinds(analysis: Analysis, owners: dict[int, int], generated: Generated | None) -> str:
    """A letter of `LABELS` or `NONE` for each line of a file."""
    letters = [NONE] * (len(analysis.source.lines) + 1)
    found = _places(generated)
    refusing = {
        owners.get(d.span.line, d.span.line): d
        for d in analysis.diagnostics
        if d.severity is Severity.ERROR
    }
    # an inner function comes later, and has the last word on its lines
    for verdict in analysis.listed:
        made = generated is not None and verdict.name in generated.functions
        for line in range(verdict.line, min(verdict.end_line + 1, len(letters))):
            start = owners.get(line)
            if start is not None:
                letters[line] = _letter(verdict, made, start, found, refusing)
    return "".join(letters[1:])


def _letter(
    verdict: Verdict, made: bool, line: int, found: dict[int, set[str]],
    refusing: dict[int, Diagnostic],
) -> str:  # fmt: skip
    if verdict.verdict == "kernel":
        return ALREADY
    if verdict.verdict == "refused":
        reason = refusing.get(line)
        return REFUSED if reason is not None and reason.code in verdict.reasons else BLOCKED
    if not made or line == verdict.line:
        return NONE
    places = found.get(line, set())
    if KERNEL in places:
        return BOTH if HOST in places else GPU
    return STAYS if HOST in places else DISSOLVED


def _places(generated: Generated | None) -> dict[int, set[str]]:
    """Where the code of each source line runs."""
    found: dict[int, set[str]] = {}
    if generated is not None:
        for source, where in zip(generated.sources, generated.where, strict=True):
            found.setdefault(source, set()).add(where)
    return found
