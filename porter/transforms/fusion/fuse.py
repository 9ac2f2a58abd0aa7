"""Fusion: its steps until none of them finds anything to do."""

from __future__ import annotations

from porter import ir
from porter.ir.context import Context
from porter.transforms.fusion.fills import merge_fills
from porter.transforms.fusion.joining import join_apart, join_neighbours, join_short_axes
from porter.transforms.fusion.late_fills import move_fills
from porter.transforms.fusion.parts import merge_parts
from porter.transforms.fusion.raising import raise_scalars
from porter.transforms.fusion.sinking import sink_loops

#: each may make neighbours of stages that another one joins; what is joined allocates its arrays
#: first, and a name means fewer arrays after its allocation
STEPS = (
    join_neighbours,
    raise_scalars,
    merge_fills,
    merge_parts,
    move_fills,
    sink_loops,
    join_apart,
    join_short_axes,
)


def fuse(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: as few stages as legal.  Each step leaves fewer statements or loops of the
    host, or moves scalars up, which finds nothing more to do the second time."""
    before: tuple[ir.Stmt, ...] = ()
    while body != before:
        before = body
        for step in STEPS:
            body = step(body, context)
    return body
