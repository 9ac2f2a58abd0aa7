"""The schedules in the order in which they are asked whether they match a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from porter import ir
from porter.ir.context import Context
from porter.schedule.base import Schedule
from porter.schedule.schedules.block import OneBlock
from porter.schedule.schedules.columns import Columns
from porter.schedule.schedules.draws import Drawn
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.schedules.panel import PanelLines
from porter.schedule.schedules.private import Private
from porter.schedule.schedules.rows import Rows
from porter.schedule.schedules.scans.bounded import BoundedLine
from porter.schedule.schedules.scans.coupled import CoupledLine
from porter.schedule.schedules.scans.quotient import QuotientLine
from porter.schedule.schedules.scans.recurrence import RecurrenceLine
from porter.schedule.schedules.scans.scan import ScanLine, ScanLines
from porter.schedule.schedules.scans.states import StatesLine
from porter.schedule.schedules.strip import Strip
from porter.schedule.schedules.tile import LARGE_TILES, SPLIT_TILE, Tile
from porter.schedule.schedules.time_tile import TimeTile
from porter.schedule.schedules.total import Total

#: the last one matches every store
SCHEDULES: list[Schedule] = [
    CoupledLine(),
    BoundedLine(),
    QuotientLine(),
    RecurrenceLine(),
    StatesLine(),
    ScanLine(),
    ScanLines(),
    Total(),
    Drawn(),
    Strip(),
    Tile(),
    *LARGE_TILES,
    SPLIT_TILE,
    Columns(),
    Rows(),
    PanelLines(),
    Private(),
    Elementwise(),
]
#: no store gets one of these: their kernels are made of launches that are merged
ONE_BLOCK = OneBlock()
TIME_TILE = TimeTile()


def candidates(s: ir.Write | ir.Stage, context: Context) -> Iterator[Schedule]:
    """The schedules of the target that can do a store or a stage, the preferred one first."""
    for schedule in context.schedules or SCHEDULES:
        if isinstance(schedule, Schedule) and schedule.matches(s, context.buffers):
            yield schedule


def chosen(s: ir.Write | ir.Stage, context: Context) -> Schedule:
    """The schedule that a store or a stage gets."""
    return next(candidates(s, context))


@contextmanager
def registered(schedule: Schedule, before: str) -> Iterator[None]:
    """One schedule more inside this context, asked before the one of this name."""
    place = next(k for k, known in enumerate(SCHEDULES) if known.name == before)
    SCHEDULES.insert(place, schedule)
    try:
        yield
    finally:
        SCHEDULES.remove(schedule)
