"""What accesses may mean one element though their arrays have two names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.ir.aliasing import Aliases
from porter.ir.rebuild import map_blocks, map_exprs


def under_one_name(loop: ir.For, program: ir.Program) -> ir.For:
    """The loop with one name for the arrays that may be the same in it."""
    touched = {a.buffer for a in accesses((loop,))}
    names: dict[str, str] = {}
    for pair in Aliases.of(program.body, program.buffers).pairs:
        one, other = sorted(pair)
        if pair <= touched:
            names[other] = names.get(one, one)
    renamed = _renamed(loop, names) if names else loop
    assert isinstance(renamed, ir.For)
    return renamed


def _renamed(s: ir.Stmt, names: dict[str, str]) -> ir.Stmt:
    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in names:
            return replace(e, buffer=names[e.buffer])
        return None

    s = map_exprs(map_blocks(s, lambda b: tuple(_renamed(t, names) for t in b)), change)
    if isinstance(s, ir.Write) and s.buffer in names:
        return replace(s, buffer=names[s.buffer])
    return s


def read_by_another_name(found: Sequence[Access], name: str, aliases: Aliases) -> bool:
    """Whether an array is read as what may be the same: two arguments may be one array."""
    ndim = len(aliases.buffers[name].shape)
    others = {a.buffer for a in found if not a.write and len(a.index) == ndim} - {name}
    return any(
        aliases.meet(n, name) or (aliases.arguments(n) and aliases.arguments(name)) for n in others
    )
