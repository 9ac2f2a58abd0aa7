"""Stretches of host code between two readings of a clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from porter.rules.launches.sites import Scope, launches, own_nodes, scopes
from porter.rules.model import Function, Kind, PyFile

_CLOCKS = (
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.time_ns",
    "time.perf_counter_ns",
    "time.monotonic_ns",
    "timeit.default_timer",
)


@dataclass(frozen=True)
class Timing:
    """What runs between two readings: its calls in order, and the statement that stops."""

    scope: Scope
    calls: tuple[ast.Call, ...]
    stop: ast.stmt
    repeated: bool


@lru_cache(maxsize=4)
def timings(file: PyFile) -> tuple[Timing, ...]:
    """Every pair of readings of a clock that stand in one block of statements."""
    if "time" not in file.text:
        return ()
    return tuple(t for scope in scopes(file) for t in _timings(file, scope))


def _timings(file: PyFile, scope: Scope) -> Iterator[Timing]:
    blocks = [(scope.body, False)]
    for node in own_nodes(scope):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and isinstance(node, ast.stmt):
                blocks.append((block, _looped(scope, node)))
    for block, repeated in blocks:
        yield from _in_block(file, scope, block, repeated)


def _looped(scope: Scope, node: ast.stmt) -> bool:
    loops = [n for n in own_nodes(scope) if isinstance(n, (ast.For, ast.While))]
    return any(node is loop or node in list(ast.walk(loop)) for loop in loops)


def _in_block(
    file: PyFile, scope: Scope, block: list[ast.stmt], repeated: bool
) -> Iterator[Timing]:
    starts: dict[str, int] = {}
    for n, statement in enumerate(block):
        name = _started(file, statement)
        begun = _stopped(file, block, n, starts)
        if begun is not None:
            between = [c for s in block[begun + 1 : n] for c in _calls(s)]
            yield Timing(scope, tuple(between), statement, repeated)
        if name is not None:
            starts[name] = n


def _started(file: PyFile, statement: ast.stmt) -> str | None:
    """The name of `t = time.time()`."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
        return None
    return statement.targets[0].id if file.callee(statement.value) in _CLOCKS else None


def _stopped(file: PyFile, block: list[ast.stmt], at: int, starts: dict[str, int]) -> int | None:
    """Where the time began that a statement stops: `clock() - t`, or a reading from which
    `t` is subtracted below."""
    statement = block[at]
    if not any(file.callee(c) in _CLOCKS for c in _calls(statement)):
        return None
    end = _started(file, statement)
    for node in (n for s in block[at:] for n in ast.walk(s)):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
            continue
        if not (isinstance(node.right, ast.Name) and node.right.id in starts):
            continue
        left = node.left
        direct = file.callee(left) in _CLOCKS and left in list(ast.walk(statement))
        if direct or (isinstance(left, ast.Name) and left.id == end):
            return starts[node.right.id]
    return None


def _calls(statement: ast.stmt) -> list[ast.Call]:
    return [n for n in ast.walk(statement) if isinstance(n, ast.Call)]


def launched(file: PyFile, call: ast.Call) -> Function | None:
    """The kernel that `k[grid, block](...)` or `k.forall(n)(...)` launches."""
    found = next((x.kernel for x in launches(file) if x.call is call), None)
    if found is not None:
        return found
    head: ast.expr | None = None
    if isinstance(call.func, ast.Call) and isinstance(call.func.func, ast.Attribute):
        head = call.func.func.value if call.func.func.attr == "forall" else None
    if not isinstance(head, ast.Name):
        return None
    function = file.defined(head.id, call.lineno)
    return function if function is not None and function.kind is Kind.KERNEL else None


def compiled(file: PyFile, call: ast.Call) -> Function | None:
    """The function that a call compiles first, if it was not compiled before."""
    function = launched(file, call)
    if function is None and isinstance(call.func, ast.Name):
        found = file.defined(call.func.id, call.lineno)
        function = found if found is not None and found.kind is Kind.NOPYTHON else None
    return function if function is not None and not function.signatures else None
