"""Each store gets its schedule; the others become stages, whose threads work alone."""

from __future__ import annotations

from dataclasses import replace

from porter import ir
from porter.ir.context import Context
from porter.ir.rebuild import map_host
from porter.schedule.base import alone
from porter.schedule.registry import chosen


def choose_schedules(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass."""
    return map_host(body, lambda s: _scheduled(s, context))


def _scheduled(s: ir.Stmt, context: Context) -> list[ir.Stmt] | None:
    if not isinstance(s, ir.Write):
        return None
    schedule = chosen(s, context)
    return [replace(s, schedule=schedule) if schedule.together else alone(s)]
