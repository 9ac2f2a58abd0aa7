"""Stores that the same thread overwrites unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.aliases import read_by_another_name
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.rebuild import map_host
from porter.ir.walk import jumps
from porter.transforms.arrays.empty import drop_empty


def drop_dead_stores(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """A store that the same thread overwrites unread is dropped (`y = zeros(n)` before a loop),
    and so are the loops and branches that have nothing left to do."""
    aliases = Aliases.of(body, context.buffers)
    return drop_empty(map_host(body, lambda s: _without_dead_stores(s, aliases)), context)


def _without_dead_stores(s: ir.Stmt, aliases: Aliases) -> list[ir.Stmt] | None:
    if not isinstance(s, ir.Stage):
        return None
    kept = (x for k, x in enumerate(s.body) if not _overwritten(x, s.body[k + 1 :], aliases))
    return [replace(s, body=tuple(kept))]


def _overwritten(s: ir.Stmt, rest: Sequence[ir.Stmt], aliases: Aliases) -> bool:
    if not isinstance(s, ir.Write) or s.checked:
        return False
    may_be_other = aliases.buffers[s.buffer].parameter or any(s.buffer in p for p in aliases.pairs)
    for r in rest:
        # one inside of a loop only leaves that loop
        if jumps((r,)):
            return False
        found = list(accesses((r,)))
        if may_be_other and read_by_another_name(found, s.buffer, aliases):
            return False
        touching = [a for a in found if a.buffer == s.buffer]
        if not touching:
            continue
        return (
            isinstance(r, ir.Write)
            and touching[0].write
            and r.index == s.index
            and len(touching) == 1
        )
    return False
