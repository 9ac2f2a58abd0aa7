"""Loops and branches over nothing are left out.

A condition that is decided at conversion (`if (i - i) > 0:`) takes its statements with it.
"""

from __future__ import annotations

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks


def drop_empty(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: `For`, `If` and stages without a statement are gone, innermost first.

    An empty `while` stays: it ends by its condition, or never.
    """
    inner = (map_blocks(s, lambda b: drop_empty(b, context)) for s in body)
    return tuple(s for s in inner if not _is_empty(s))


def _is_empty(s: ir.Stmt) -> bool:
    if isinstance(s, ir.If):
        return not s.body and not s.orelse
    return isinstance(s, (ir.For, ir.Stage)) and not s.body
