"""Moves a loop into an `@njit` function of its own, as one does by hand when porting."""

from __future__ import annotations

import ast
import re

from porter.diagnostics import Edit, Fix, Span
from porter.rules.imports import module_name, place_behind
from porter.rules.model import Function, Kind, PyFile, stored, walk_own
from porter.rules.nopython.arrays import certain_arrays
from porter.rules.nopython.certain import compiles

INDENT = "    "


def outlined(file: PyFile, function: Function, loop: ast.stmt, number: int) -> Fix | None:
    """The fix that calls a new function in the loop's place; None where that is not certain
    to mean the same: a result that may not exist, a body that may not compile.

    The names that the loop reads become parameters, those read after it results.
    """
    if not isinstance(loop, ast.For) or loop.orelse or function.node not in file.tree.body:
        return None
    nodes = list(walk_own(loop))
    if not all_compiles(file, function, loop):
        return None
    counters = {c for n in nodes if isinstance(n, ast.For) for c in _counters(n)}
    before = set(function.parameters) | _stored(function.node, loop.lineno)
    results = stored(nodes) & _read_behind(function, loop)
    names = [n.id for n in nodes if isinstance(n, ast.Name) and n.id in before - counters]
    read = dict.fromkeys(names)
    if not results <= before - counters or not read:
        return None
    name = f"{function.node.name}_loop{f'_{number}' if number else ''}"
    decorator = _njit(file)
    body = _lines(file, loop)
    if decorator is None or body is None or re.search(rf"\b{name}\b", file.text):
        return None
    given = [n for n in read if n in results]
    call = f"{name}({', '.join(read)})"
    returns = f"{INDENT}return {', '.join(given)}\n" if given else ""
    text = f"@{decorator[0]}\ndef {name}({', '.join(read)}):\n{body}{returns}\n\n"
    first = _first_line(file, function)
    also = [Edit(Span(first, 1, first, 1), text), *decorator[1], *_undecorated(file, function)]
    end = loop.end_lineno or loop.lineno
    span = file.span(loop)
    place = Span(span.line, span.column, end, len(file.lines[end - 1].rstrip("\r\n")) + 1)
    return Fix(place, f"{', '.join(given)} = {call}" if given else call, False, tuple(also))


def all_compiles(file: PyFile, function: Function, loop: ast.stmt) -> bool:
    """Whether everything in a loop is certain to compile, if what it indexes are arrays."""
    arrays = certain_arrays(file, function) | _subscripted(loop)
    return all(compiles(file, function, n, arrays) for n in walk_own(loop))


def _subscripted(loop: ast.stmt) -> set[str]:
    return {
        n.value.id
        for n in walk_own(loop)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)
    }


def _counters(loop: ast.For) -> set[str]:
    return {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}


def _stored(node: ast.AST, above: int) -> set[str]:
    """The names that are bound above a line."""
    return {
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno < above
    }


def _read_behind(function: Function, loop: ast.For) -> set[str]:
    """The names that are read after a loop, loops that bind them again left aside."""
    found: set[str] = set()
    todo: list[tuple[ast.AST, frozenset[str]]] = [(function.node, frozenset())]
    while todo:
        node, bound = todo.pop()
        if isinstance(node, ast.For):
            todo.append((node.iter, bound))
            bound |= _counters(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.lineno > (loop.end_lineno or loop.lineno) and node.id not in bound:
                found.add(node.id)
        todo += [(child, bound) for child in ast.iter_child_nodes(node)]
    return found


def _lines(file: PyFile, loop: ast.For) -> str | None:
    """The loop's lines with the indentation of a function's body, comments included; None
    when it shares a line with something else."""
    last = loop.body[-1].end_lineno or loop.lineno
    lines = [line.rstrip("\r\n") for line in file.lines[loop.lineno - 1 : last]]
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    tail = lines[-1][file.span(loop.body[-1]).end_column - 1 :] if len(lines) > 1 else ""
    alone = file.lines[loop.lineno - 1].startswith(f"{margin}for ")
    inner = all(not line.strip() or line.startswith(margin) for line in lines)
    if not alone or not inner or ";" in tail:
        return None
    return "".join(f"{INDENT}{line[len(margin) :]}".rstrip() + "\n" for line in lines)


def _njit(file: PyFile) -> tuple[str, tuple[Edit, ...]] | None:
    """How the module names `numba.njit`, and the import that it needs for that."""
    for full, suffix in (("numba.njit", ""), ("numba", ".njit")):
        name = module_name(file, full)
        if name is not None:
            return name + suffix, ()
    at = place_behind(file, "numba")
    if at is None or at > len(file.lines) or re.search(r"\bnjit\b", file.text):
        return None
    return "njit", (Edit(Span(at, 1, at, 1), "from numba import njit\n"),)


def _first_line(file: PyFile, function: Function) -> int:
    """The first line of a function: decorators and the comments right above them count."""
    line = min([function.node.lineno, *(d.lineno for d in function.node.decorator_list)])
    while line > 1 and file.lines[line - 2].startswith("#"):
        line -= 1
    return line


def _undecorated(file: PyFile, function: Function) -> list[Edit]:
    """Without `@jit`, which cannot compile the rest of the function either."""
    decorator = function.decorator
    if function.kind is not Kind.NOPYTHON or decorator is None:
        return []
    end = (decorator.end_lineno or decorator.lineno) + 1
    return [Edit(Span(decorator.lineno, 1, end, 1), "")]
