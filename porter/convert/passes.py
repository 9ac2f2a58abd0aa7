"""The passes in order, and the plan that they make of an array program."""

from __future__ import annotations

from collections.abc import Callable

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.broadcast import expandable, fixed_shapes
from porter.analyses.runtime_broadcast import widenable
from porter.analyses.scans import scan_lines
from porter.ir.aliasing import Aliases
from porter.ir.check import check
from porter.ir.context import Context
from porter.ir.walk import statements
from porter.schedule.choose import choose_schedules
from porter.schedule.kernels import group
from porter.schedule.nodes import Plan
from porter.transforms.arrays.empty import drop_empty
from porter.transforms.arrays.hoist_reductions import extract
from porter.transforms.arrays.in_place import in_place
from porter.transforms.arrays.materialise import store
from porter.transforms.arrays.positions import simplify_positions, split_flat_domains
from porter.transforms.arrays.scalars import device_scalars
from porter.transforms.fusion.scalar_replacement import registers
from porter.transforms.fusion.stages import (
    drop_dead_stores,
    fuse,
    merge_fills,
    privatise,
    sink_loops,
)
from porter.transforms.loops.flags import set_in_place
from porter.transforms.loops.last_writer import winners
from porter.transforms.loops.loops import place_loops
from porter.transforms.loops.scan_loops import scan_loops

Pass = Callable[[tuple[ir.Stmt, ...], Context], tuple[ir.Stmt, ...]]

#: from an array program to stages; `kernels.group` then makes the launches
PASSES: tuple[Pass, ...] = (
    drop_empty,
    scan_loops,
    place_loops,
    winners,
    device_scalars,
    set_in_place,
    extract,
    store,
    simplify_positions,
    in_place,
    scan_lines,
    choose_schedules,
    fuse,
    merge_fills,
    sink_loops,
    fuse,
    drop_dead_stores,
    drop_empty,
    privatise,
    registers,
    split_flat_domains,
)


def lower(program: ir.Program) -> tuple[tuple[ir.Stmt, ...], Context]:
    """The statements after all passes: scalar loops, each store with its domain."""
    context = Context.of(program)
    body = program.body
    stored = False
    for step in PASSES:
        body = step(body, context)
        stored = stored or step is store
        check(body, program, context.buffers, stored=stored)
    return body, context


def plan(program: ir.Program) -> Plan:
    """The plan of one function. Raises Refusal where a loop cannot run in parallel."""
    body, context = lower(program)
    groups = expandable(program)
    return Plan(
        program.name,
        program.parameters,
        context.buffers,
        group(body, context),
        program.checks,
        program.docstring,
        program.constants,
        program.origin,
        program.indexed or _indexed(program),
        fixed_shapes(program),
        groups,
        widenable(program, [m for g in groups for m in g]),
        program.imports,
        tuple(context.notes),
        Aliases.of(body, context.buffers),
        tuple(sorted(context.apart)),
    )


def _indexed(program: ir.Program) -> bool:
    loops = {s.index for s in statements(program.body) if isinstance(s, ir.For)}
    return any(p.names() & loops for a in accesses(program.body) for p in a.index)
