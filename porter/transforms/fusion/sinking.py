"""A host loop around one stage becomes a loop of its threads: one launch instead of many."""

from __future__ import annotations

from porter import ir
from porter.analyses.accesses import accesses
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
        if isinstance(s, ir.For):
            after = uses_in(body[k + 1 :]).scalars
            s = _sunk(s, after) or s
        result.append(s)
    return tuple(result)


def _sunk(loop: ir.For, after: frozenset[str]) -> ir.Stage | None:
    stages = [s for s in loop.body if isinstance(s, ir.Stage)]
    lets = [s for s in loop.body if isinstance(s, ir.Let)]
    if len(stages) != 1 or len(lets) + 1 != len(loop.body) or not stages[0].axes:
        return None
    stage = stages[0]
    names = {loop.index} | {s.name for s in lets}
    if any((a.hi.names() | a.lo.names()) & names for a in stage.axes):
        return None
    if names & after or exposed_scalars(loop.body) & {s.name for s in lets}:
        return None
    if loop.body[-1] is not stage or not _pinned(stage):
        return None
    inner = ir.For(loop.index, loop.lo, loop.hi, loop.step, (*lets, *stage.body), loop.origin)
    return ir.Stage(stage.axes, (inner,), loop.origin)


def _pinned(stage: ir.Stage) -> bool:
    """Whether each array that is written is touched by each thread only in its own part."""
    found = list(accesses(stage.body))
    for name in {a.buffer for a in found if a.write}:
        places = [a.index for a in found if a.buffer == name]
        for axis in stage.axes:
            dims = range(len(places[0]))
            if not any(all(p[d].name == axis.name for p in places) for d in dims):
                return False
    return True
