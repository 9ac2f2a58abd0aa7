"""The schedules in the order in which they are asked whether they match a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from porter import ir
from porter.schedule.base import Schedule
from porter.schedule.schedules.block import OneBlock
from porter.schedule.schedules.elementwise import Elementwise
from porter.schedule.schedules.private import Private
from porter.schedule.schedules.rows import Rows
from porter.schedule.schedules.scan import ScanLine, ScanLines
from porter.schedule.schedules.tile import Tile
from porter.schedule.schedules.total import Total

#: the last one matches every store
SCHEDULES: list[Schedule] = [
    ScanLine(),
    ScanLines(),
    Total(),
    Tile(),
    Rows(),
    Private(),
    Elementwise(),
]
ONE_BLOCK = OneBlock()


def candidates(s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> Iterator[Schedule]:
    """The schedules that can do a store or a stage, the preferred one first."""
    return (schedule for schedule in SCHEDULES if schedule.matches(s, buffers))


def chosen(s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> Schedule:
    """The schedule that a store or a stage gets."""
    return next(candidates(s, buffers))


@contextmanager
def registered(schedule: Schedule, before: str) -> Iterator[None]:
    """One schedule more inside this context, asked before the one of this name."""
    place = next(k for k, known in enumerate(SCHEDULES) if known.name == before)
    SCHEDULES.insert(place, schedule)
    try:
        yield
    finally:
        SCHEDULES.remove(schedule)
