"""Fusion: as few stages as legal."""

from __future__ import annotations

from porter import ir
from porter.ir.context import Context
from porter.transforms.fusion.fills import merge_fills
from porter.transforms.fusion.joining import join_neighbours
from porter.transforms.fusion.sinking import sink_loops

#: a fill that became a branch and a loop that went into the threads may be neighbours of others
STEPS = (join_neighbours, merge_fills, sink_loops, join_neighbours)


def fuse(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass."""
    for step in STEPS:
        body = step(body, context)
    return body
