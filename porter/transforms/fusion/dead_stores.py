"""Stores that the same thread overwrites unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.aliases import read_by_another_name
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks
from porter.ir.walk import own_level
from porter.transforms.arrays.empty import drop_empty


def drop_dead_stores(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """A store that the same thread overwrites unread is dropped (`y = zeros(n)` before a loop),
    and so are the loops and branches that have nothing left to do."""
    return drop_empty(_drop_dead_stores(body, Aliases.of(body, context.buffers)), context)


def _drop_dead_stores(body: tuple[ir.Stmt, ...], aliases: Aliases) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Stage):
            after = [s.body[k + 1 :] for k in range(len(s.body))]
            kept = (x for x, rest in zip(s.body, after, strict=True)
                    if not _overwritten(x, rest, aliases))  # fmt: skip
            s = replace(s, body=tuple(kept))
        else:
            s = map_blocks(s, lambda b: _drop_dead_stores(b, aliases))
        result.append(s)
    return tuple(result)


def _overwritten(s: ir.Stmt, rest: Sequence[ir.Stmt], aliases: Aliases) -> bool:
    if not isinstance(s, ir.Write) or s.checked:
        return False
    may_be_other = aliases.buffers[s.buffer].parameter or any(s.buffer in p for p in aliases.pairs)
    for r in rest:
        # one inside of a loop only leaves that loop
        if any(isinstance(x, ir.Jump) for x in own_level((r,))):
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
