"""The fix of PRT402: the threads past the end of an array leave."""

from __future__ import annotations

import ast

from porter.diagnostics import Fix, Span
from porter.rules.model import uses_of
from porter.rules.threads import Element, Threads


def guard(threads: Threads, at: Element, positions: set[str]) -> Fix | None:
    """An early return below the binding of the positions that index an element; None where it
    might keep threads from a barrier, or would not be enough."""
    used = {i.id: n for n, i in enumerate(at.indices) if isinstance(i, ast.Name)}
    others = [i for i in at.indices if not isinstance(i, ast.Name)]
    inside = {n.id for i in others for n in ast.walk(i) if isinstance(n, ast.Name)}
    axes = {name: n for name, n in used.items() if name in positions}
    if not axes or inside & positions or _waits(threads):
        return None
    bindings = [_binding(threads, name) for name in axes]
    last = bindings[-1]
    if None in bindings or last is None:
        return None
    last = max((b for b in bindings if b is not None), key=lambda b: b.lineno)
    tests = [f"{name} >= {at.base}.shape[{n}]" for name, n in axes.items()]
    return _inserted(threads, last, " or ".join(tests))


def _waits(threads: Threads) -> bool:
    return any("sync" in threads.file.code(c.func) for c in threads.function.calls)


def _binding(threads: Threads, name: str) -> ast.stmt | None:
    """The one statement of the body, in no branch or loop, that binds a name."""
    uses = uses_of(name, threads.function.nodes)
    stores = [n for n in uses if isinstance(n.ctx, ast.Store)]
    if len(stores) != 1:
        return None
    body = threads.function.node.body
    return next((s for s in body if stores[0] in set(ast.walk(s))), None)


def _inserted(threads: Threads, statement: ast.stmt, test: str) -> Fix | None:
    body, file = threads.function.node.body, threads.file
    at = body.index(statement)
    end = statement.end_lineno or statement.lineno
    if not isinstance(statement, ast.Assign) or at + 1 == len(body):
        return None
    indent = file.lines[statement.lineno - 1][: file.span(statement).column - 1]
    outer = file.lines[threads.function.node.lineno - 1]
    unit = indent[len(outer) - len(outer.lstrip()) :]
    if indent.strip() or not unit or body[at + 1].lineno <= end:
        return None
    text = f"{indent}if {test}:\n{indent}{unit}return\n"
    return Fix(Span(end + 1, 1, end + 1, 1), text, safe=False)
