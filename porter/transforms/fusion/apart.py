"""Which statements may change places."""

from __future__ import annotations

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.effects import defs_in, uses_in


def passes(s: ir.Stmt, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether a stage may come before a launch or an allocation that it comes after."""
    return isinstance(other, (ir.Write, ir.Stage, ir.Alloc)) and are_apart(s, other, aliases)


def makes_room(other: ir.Stmt, s: ir.Stmt) -> bool:
    """Whether a statement allocates what a stage stores, and moves with it."""
    return isinstance(other, ir.Alloc) and other.buffer.name in defs_in((s,)).arrays


def are_apart(s: ir.Stmt, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether neither statement needs what the other one stores or makes."""
    if defs_in((s,)).arrays & aliases.with_others(uses_in((other,)).arrays, arguments=True):
        return False
    return not uses_in((s,)).arrays & aliases.with_others(defs_in((other,)).arrays, arguments=True)
