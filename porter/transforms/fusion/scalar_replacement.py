"""Arrays of which each thread needs one element are scalar variables of the threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import (
    Access,
    accesses,
    as_local,
    picks,
    surely_writes,
    touches,
    users_of,
)
from porter.ir.context import Context
from porter.ir.effects import expressions, makes
from porter.ir.rebuild import map_blocks
from porter.ir.walk import blocks, loaded


def replace_arrays(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """An array that one kernel writes and reads only at its own index is a local variable."""
    return _replaced(body, context, users_of(body))


def _replaced(
    body: tuple[ir.Stmt, ...], context: Context, users: Mapping[str, int]
) -> tuple[ir.Stmt, ...]:
    gone: set[str] = set()

    def replaced(s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Stage):
            return map_blocks(s, lambda b: _replaced(b, context, users))
        found: dict[str, list[Access]] = {}
        for a in accesses(s.body):
            found.setdefault(a.buffer, []).append(a)
        for name, own in found.items():
            if context.buffers[name].parameter or users[name] != 1 or not _private(s, name, own):
                continue
            s = replace(s, body=as_local(s.body, name, name))
            gone.add(name)
        return s

    body = tuple(map(replaced, body))
    return tuple(s for s in body if not (isinstance(s, ir.Alloc) and makes(s) & gone))


def _private(stage: ir.Stage, name: str, found: list[Access]) -> bool:
    places = {a.index for a in found if a.buffer == name}
    if len(places) != 1 or not any(a.buffer == name and a.write for a in found):
        return False
    if any(a.buffer == name and a.combine for a in found):
        return False
    index = next(iter(places))
    if not all(picks(index, a) for a in stage.axes):
        return False
    first = next(s for s in _scope(stage.body, name) if touches(s, name))
    return surely_writes(first, name)


def _scope(body: Sequence[ir.Stmt], name: str) -> Sequence[ir.Stmt]:
    """The innermost branch or loop that holds all accesses to an array."""
    touching = [s for s in body if touches(s, name)]
    if len(touching) == 1:
        inner = blocks(touching[0])
        used = [block for block in inner if any(touches(s, name) for s in block)]
        if len(used) == 1 and not any(name in loaded(e) for e in expressions(touching[0])):
            return _scope(used[0], name)
    return body
