"""What accesses may mean one element though their arrays have two names."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.ir.aliasing import Aliases
from porter.ir.rebuild import rename_arrays


def under_one_name(loop: ir.For, program: ir.Program) -> ir.For:
    """The loop with one name for the arrays that may be the same in it.

    Two names for arguments that are one array only on some paths keep their names: the host
    tests at the launch whether they are.
    """
    touched = {a.buffer for a in accesses((loop,))}
    names: dict[str, str] = {}
    aliases = Aliases.of(program.body, program.buffers)
    for pair in aliases.pairs:
        one, other = sorted(pair)
        tested = pair not in aliases.certain and all(map(aliases.arguments, pair))
        if pair <= touched and not tested:
            names[other] = names.get(one, one)
    return rename_arrays(loop, names) if names else loop


def read_by_another_name(found: Sequence[Access], name: str, aliases: Aliases) -> bool:
    """Whether an array is read as what may be the same: two arguments may be one array."""
    ndim = len(aliases.buffers[name].shape)
    others = {a.buffer for a in found if not a.write and len(a.index) == ndim} - {name}
    return any(
        aliases.meet(n, name) or (aliases.arguments(n) and aliases.arguments(name)) for n in others
    )
