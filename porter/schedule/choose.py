"""Each store gets its schedule; the others become stages, whose threads work alone."""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_blocks
from porter.schedule.base import alone
from porter.schedule.registry import chosen


def choose_schedules(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass."""
    return tuple(_statement(s, context) for s in body)


def _statement(s: ir.Stmt, context: Context) -> ir.Stmt:
    if isinstance(s, ir.Stage):
        return s
    if not isinstance(s, ir.Write):
        return map_blocks(s, lambda b: choose_schedules(b, context))
    schedule = chosen(s, context)
    return replace(s, schedule=schedule) if schedule.together else alone(s)
