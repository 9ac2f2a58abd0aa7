"""Loops and branches over nothing are left out.

A condition that is decided at conversion (`if (i - i) > 0:`) takes its statements with it.
"""

from __future__ import annotations

from porter.ir.context import Context, map_blocks
from porter.ir.nodes import For, If, Stage, Stmt


def drop_empty(body: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """The pass: `For`, `If` and stages without a statement are gone, innermost first.

    An empty `while` stays: it ends by its condition, or never.
    """
    inner = (map_blocks(s, lambda b: drop_empty(b, context)) for s in body)
    return tuple(s for s in inner if not _is_empty(s))


def _is_empty(s: Stmt) -> bool:
    if isinstance(s, If):
        return not s.body and not s.orelse
    return isinstance(s, (For, Stage)) and not s.body
