"""The module that the converter writes for a file, with its lines led back to the source."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from porter.rules.verdicts import Verdict
from porter.source.files import SourceFile
from porter.support.parsing import tree_of
from porter.trace.lookup import traced_types

KERNEL, HOST, OTHER = "k", "h", "."


@dataclass(frozen=True)
class Generated:
    """The text, by line: the source line it comes from (0: none), and where it runs.

    `functions` are those it holds, `failed` those that could not be generated after all.
    """

    lines: tuple[str, ...]
    sources: tuple[int, ...]
    where: str
    functions: frozenset[str]
    failed: tuple[str, ...] = ()


def generate(
    file: SourceFile, verdicts: Sequence[Verdict], signatures: Mapping[str, str]
) -> Generated | None:
    """What `porter convert --no-verify` would write, without the header; None for nothing."""
    wanted = {v.line: v for v in verdicts if v.verdict in ("convertible", "partly")}
    if not wanted:
        return None
    # the converter is half of porter: other formats do without it
    from porter.codegen.module.module import FunctionText, linked_module
    from porter.convert.function import convert_function
    from porter.inference.signature import setting
    from porter.resolve.globals import globals_of
    from porter.source.module import SourceModule

    texts: list[FunctionText] = []
    made: dict[str, int] = {}
    try:
        module = SourceModule(file.text, file.path)
    except (SyntaxError, cst.ParserSyntaxError):
        return None
    module.traced = traced_types(file.path)
    for function in module.functions:
        verdict = wanted.get(function.span.line)
        if verdict is None:
            continue
        try:
            # what the verdict was made from, so that the report shows what it speaks of
            signature = setting(function, signatures)
            texts += convert_function(function, signature, globals_of(module)).texts
            made[texts[-1].shown] = verdict.line
        except Exception:
            # one function that fails must not hide the others; the report names it
            if os.environ.get("PORTER_DEBUG"):
                raise
    failed = tuple(v.name for v in wanted.values() if v.line not in made.values())
    if not texts:
        return Generated((), (), "", frozenset(), failed)
    module_made = linked_module(texts, Path(file.path).name)
    text, links = module_made.text, module_made.lines
    names = frozenset(v.name for v in wanted.values() if v.name not in failed)
    return _linked(text, links, made, names, failed)


def _linked(
    text: str,
    links: Mapping[int, int],
    made: Mapping[str, int],
    names: frozenset[str],
    failed: tuple[str, ...],
) -> Generated:
    lines = text.rstrip("\n").split("\n")
    sources, where = [0] * len(lines), [OTHER] * len(lines)
    functions = [node for node in tree_of(text).body if isinstance(node, ast.FunctionDef)]
    solvers = _launching(functions, made)
    for node in functions:
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        last = node.end_lineno or node.lineno
        if node.decorator_list:
            where[first - 1 : last] = [KERNEL] * (last - first + 1)
            _follow_comments(lines, links, sources, first, last)
        elif node.name in made:
            where[first - 1 : last] = [HOST] * (last - first + 1)
            sources[node.lineno - 1] = made[node.name]
            for first, last in _follow_statements(node, links, sources, solvers):
                where[first - 1 : last] = [KERNEL] * (last - first + 1)
    return Generated(tuple(lines), tuple(sources), "".join(where), names, failed)


def _follow_comments(
    lines: Sequence[str], links: Mapping[int, int], sources: list[int], first: int, last: int
) -> None:
    """In a kernel, a comment speaks of all lines up to the next one or the end of its block."""
    current, depth = 0, 0
    for number in range(first, last + 1):
        line = lines[number - 1]
        indent = len(line) - len(line.lstrip())
        if number in links:
            current, depth = links[number], indent
            _own_comments(lines, sources, number, current)
        elif line.strip() and indent < depth:
            current = 0
        sources[number - 1] = current if line.strip() else 0


def _launching(functions: Sequence[ast.FunctionDef], made: Mapping[str, int]) -> frozenset[str]:
    """The helpers of a module that launch kernels, themselves or by a helper: its solvers."""
    kernels = {f.name for f in functions if f.decorator_list}
    calls = {f.name: _called(f) for f in functions if not f.decorator_list and f.name not in made}
    found = {name for name, called in calls.items() if called & kernels}
    while more := {n for n, called in calls.items() if called & found} - found:
        found |= more
    return frozenset(found)


def _called(node: ast.AST) -> set[str]:
    """The names that are called, `f(...)`, or launched, `f[...](...)`."""
    called = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    names = [f.value if isinstance(f, ast.Subscript) else f for f in called]
    return {n.id for n in names if isinstance(n, ast.Name)}


def _follow_statements(
    function: ast.FunctionDef,
    links: Mapping[int, int],
    sources: list[int],
    solvers: frozenset[str],
) -> list[tuple[int, int]]:
    """On the host, a comment speaks of the statement below it.

    Returns the first and the last line of each statement that only starts work on the device.
    """
    launches = []
    for node in ast.walk(function):
        if not isinstance(node, ast.stmt) or node.lineno - 1 not in links:
            continue
        source = links[node.lineno - 1]
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        sources[node.lineno - 2 : last] = [source] * (last - node.lineno + 2)
        if body is None and _called(node) & solvers:
            launches.append((node.lineno - 1, last))
    return launches


def _own_comments(lines: Sequence[str], sources: list[int], number: int, source: int) -> None:
    """The user's comments stand above the line that quotes their statement."""
    above = number - 1
    while above and lines[above - 1].lstrip().startswith("#"):
        sources[above - 1] = source
        above -= 1
