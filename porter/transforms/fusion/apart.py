"""Which statements may change places."""

from __future__ import annotations

from porter import ir
from porter.analyses.accesses import accesses, never_meet
from porter.ir.aliasing import Aliases
from porter.ir.effects import defs_in, uses_in

_STORES = (ir.Write, ir.Stage)


def passes(s: ir.Stmt, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether a stage may come before a launch or an allocation that it comes after."""
    return isinstance(other, (ir.Write, ir.Stage, ir.Alloc)) and are_apart(s, other, aliases)


def makes_room(other: ir.Stmt, s: ir.Stmt) -> bool:
    """Whether a statement allocates what a stage stores, and moves with it."""
    return isinstance(other, ir.Alloc) and other.buffer.name in defs_in((s,)).arrays


def are_apart(s: ir.Stmt, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether neither statement needs what the other one stores or makes."""
    return _leaves(s, other, aliases) and _leaves(other, s, aliases)


def _leaves(s: ir.Stmt, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether a statement stores nothing that the other one needs."""
    used = uses_in((other,)).arrays
    met = defs_in((s,)).arrays & aliases.with_others(used, arguments=True)
    alone = all(aliases.with_others({name}, arguments=True) == {name} for name in met)
    parts = isinstance(s, _STORES) and isinstance(other, _STORES) and alone
    return not met or (parts and all(_in_parts(name, s, other) for name in met))


def _in_parts(name: str, s: ir.Stmt, other: ir.Stmt) -> bool:
    """Whether two statements touch different parts of an array, but for what both only read."""
    mine, theirs = ([a for a in accesses((x,)) if a.buffer == name] for x in (s, other))
    return all(
        never_meet(x, y) for x in mine for y in theirs if x.write or y.write
    )  # fmt: skip
