"""A host loop around one stage becomes a loop of its threads: one launch instead of many."""

from __future__ import annotations

from collections.abc import Collection

from porter import ir
from porter.analyses.accesses import accesses, in_own_line
from porter.ir.context import Context
from porter.ir.effects import exposed_scalars, uses_in
from porter.ir.rebuild import map_blocks


def sink_loops(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """A host loop around one stage moves into the thread when no data crosses threads."""
    result: list[ir.Stmt] = []
    for k, s in enumerate(body):
        if isinstance(s, ir.Stage):
            result.append(s)
            continue
        s = map_blocks(s, lambda b: sink_loops(b, context))
        sunk = None
        if isinstance(s, ir.For):
            sunk = _sunk(s, uses_in(body[k + 1 :]).scalars)
        result += sunk or [s]
    return tuple(result)


def _sunk(loop: ir.For, after: frozenset[str]) -> list[ir.Stmt] | None:
    stages = [s for s in loop.body if isinstance(s, ir.Stage)]
    lets = [s for s in loop.body if isinstance(s, ir.Let)]
    # the arrays of one iteration serve the next: what an iteration reads, it has stored
    arrays = [s for s in loop.body if isinstance(s, ir.Alloc)]
    if len(stages) != 1 or len([*lets, *arrays]) + 1 != len(loop.body) or not stages[0].axes:
        return None
    stage = stages[0]
    names = {loop.index} | {s.name for s in lets}
    sizes = [p for a in stage.axes for p in (a.hi, a.lo)]
    sizes += [n for s in arrays for n in s.buffer.shape]
    if any(p.names() & names for p in sizes):
        return None
    if names & after or exposed_scalars(loop.body) & {s.name for s in lets}:
        return None
    if loop.body[-1] is not stage or not _pinned(stage, names):
        return None
    inner = ir.For(loop.index, loop.lo, loop.hi, loop.step, (*lets, *stage.body), loop.origin)
    return [*arrays, ir.Stage(stage.axes, (inner,), loop.origin)]


def _pinned(stage: ir.Stage, names: Collection[str]) -> bool:
    """Whether each array that is written is touched by each thread only in its own part, while
    the variables `names` change."""
    found = list(accesses(stage.body))
    return all(
        in_own_line(stage.axes, [a for a in found if a.buffer == name], names)
        for name in {a.buffer for a in found if a.write}
    )
