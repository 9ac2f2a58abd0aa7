"""The passes in order, and the plan that they make of an array program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.broadcast import expandable, fixed_shapes, own_shapes
from porter.analyses.floats import integral_floats
from porter.analyses.runtime_broadcast import widenable
from porter.analyses.scans import scan_lines
from porter.analyses.turns import Turns, turns
from porter.ir.aliasing import Aliases
from porter.ir.check import IRError, Rule, check
from porter.ir.context import Context
from porter.ir.walk import statements
from porter.schedule.base import Schedule
from porter.schedule.choose import choose_schedules
from porter.schedule.kernels import group
from porter.schedule.nodes import Plan
from porter.transforms.arrays.copy_on_overlap import copy_on_overlap
from porter.transforms.arrays.draws import forget_turns, store_draws
from porter.transforms.arrays.empty import drop_empty
from porter.transforms.arrays.hoist_products import hoist_products
from porter.transforms.arrays.hoist_reductions import hoist_reductions
from porter.transforms.arrays.materialise import materialise
from porter.transforms.arrays.positions import simplify_positions, split_flat_domains
from porter.transforms.arrays.rotation import rotate_arrays
from porter.transforms.arrays.rounded_products import round_products
from porter.transforms.arrays.same_values import share_values
from porter.transforms.arrays.scalar_swaps import swap_scalars
from porter.transforms.arrays.scalars import device_scalars
from porter.transforms.fusion.dead_stores import drop_dead_stores
from porter.transforms.fusion.fuse import fuse
from porter.transforms.fusion.overwritten import join_overwritten
from porter.transforms.fusion.registers import promote_elements
from porter.transforms.fusion.scalar_replacement import replace_arrays
from porter.transforms.fusion.shared_steps import share_steps
from porter.transforms.loops.flags import set_in_place
from porter.transforms.loops.known_sizes import settle_sizes
from porter.transforms.loops.last_writer import resolve_last_writers
from porter.transforms.loops.loops import place_loops
from porter.transforms.loops.orders.closures import closures_in_panels
from porter.transforms.loops.orders.panels import in_panels
from porter.transforms.loops.own_arrays import store_in_place
from porter.transforms.loops.raised_first import raise_first
from porter.transforms.loops.scans.scan_loops import scan_loops
from porter.transforms.loops.starts import write_out_starts

Body = tuple[ir.Stmt, ...]


@dataclass(frozen=True)
class Pass:
    """One step on the way from an array program to stages; `rules` hold from then on."""

    name: str
    run: Callable[[Body, Context], Body]
    rules: tuple[Rule, ...] = ()


#: what must hold once everything is stored
STORED = Rule("a definition that is not stored", lambda s: not isinstance(s, ir.Def))

#: and once each store has its schedule: what no threads share is a stage
SCHEDULED = Rule(
    "a store without a schedule", lambda s: not isinstance(s, ir.Write) or s.schedule is not None
)

#: from an array program to stages; `kernels.group` then makes the launches
PASSES = (
    # stores over one domain are seen to be
    Pass("settle sizes", settle_sizes),
    # what is never run must not keep a loop from being parallel
    Pass("drop empty", drop_empty),
    # before its folds get arrays of their own: what is computed twice is seen as a whole
    Pass("share values", share_values),
    # a test on the host keeps the iterations of a loop in order
    Pass("raise first", raise_first),
    # an array of one iteration is a part of what it is copied to, and nobody's dependence
    Pass("store in place", store_in_place),
    # a loop that only its accumulation keeps in order is parallel without it
    Pass("scan loops", scan_loops),
    Pass("place loops", place_loops),
    # the value that such a loop starts from is no data: to store it would take a launch
    Pass("write out starts", write_out_starts),
    # from here on the axes of a statement are threads: of stores that meet, one is chosen
    Pass("last writer", resolve_last_writers),
    # a loop that became a reduction left a variable with its result, which is on the device
    Pass("device scalars", device_scalars),
    Pass("flags in place", set_in_place),
    # while sums of products are seen as such
    Pass("hoist products", hoist_products),
    # before anything is stored: a reduction over part of a domain is computed once, not inlined
    Pass("hoist reductions", hoist_reductions),
    Pass("materialise", materialise, (STORED,)),
    # while all readers are seen, and before a schedule is chosen for what is stored
    Pass("store draws", store_draws),
    # what was written out in its readers is simplified within their domains, and before anyone
    # asks how memory is read: which elements a store overwrites, which schedule fits it
    Pass("simplify positions", simplify_positions),
    # before a copy is made of what is stored and read elsewhere
    Pass("join overwritten", join_overwritten),
    Pass("copy on overlap", copy_on_overlap),
    Pass("scan lines", scan_lines),
    # once all that a turn stores is seen, and before a sum of many terms gets its schedule
    Pass("panels", in_panels),
    Pass("closures", closures_in_panels),
    Pass("choose schedules", choose_schedules, (SCHEDULED,)),
    Pass("fuse", fuse),
    # what two stages computed alike, the thread that runs both computes once
    Pass("share steps", share_steps),
    # only a thread that runs both stores can see that the first is dead
    Pass("drop dead stores", drop_dead_stores),
    # and only when nothing else is going to share the kernel are its arrays variables
    Pass("scalar replacement", replace_arrays),
    Pass("promote elements", promote_elements),
    # each array has its last name now: those that iterations make take turns
    Pass("rotate arrays", rotate_arrays),
    Pass("swap scalars", swap_scalars),
    # last: two stages over one flat index could not be fused if just one of them were split
    Pass("split flat domains", split_flat_domains),
    # after all that inlines: which products are added to is seen in what the threads compute
    Pass("round products", round_products),
)


def steps(
    program: ir.Program, schedules: Sequence[Schedule] = ()
) -> Iterator[tuple[str, Body, Context]]:
    """The statements at the start and after each pass, checked, with its name."""
    body, context = program.body, Context.of(program, schedules)
    context.alone = bool(schedules) and not any(s.scans for s in schedules)
    context.values = any(s.values for s in schedules)
    yield "array program", body, context
    rules: tuple[Rule, ...] = ()
    for step in PASSES:
        before, buffers = body, dict(context.buffers)
        body = step.run(body, context)
        rules += step.rules
        # more than half of the passes of a program change nothing: only their rules are new
        changed = not _same(before, body) or buffers != context.buffers
        try:
            check(body, program, context.buffers, rules, whole=changed)
        except IRError as error:
            raise IRError(f"after `{step.name}`: {error.message}", error.where) from None
        yield step.name, body, context


def _same(before: Body, after: Body) -> bool:
    """Whether these are the very same statements."""
    return len(before) == len(after) and all(map(operator.is_, before, after))


def lower(program: ir.Program, schedules: Sequence[Schedule] = ()) -> tuple[Body, Context]:
    """The statements after all passes: scalar loops, each store with its domain."""
    *_, (_, body, context) = steps(program, schedules)
    return body, context


def plan(program: ir.Program, schedules: Sequence[Schedule] = ()) -> Plan:
    """The plan of one function, with these schedules or all.

    Raises Refusal where a loop cannot run in parallel.
    """
    body, context = lower(program, schedules)
    groups = expandable(program)
    strict = fixed_shapes(program)
    asked = turns(program) if strict else Turns()
    return Plan(
        program.name,
        program.parameters,
        context.buffers,
        group(forget_turns(body), context),
        context.checks,
        program.docstring,
        program.constants,
        program.origin,
        program.indexed or _indexed(program),
        strict and not asked.counts,
        groups,
        widenable(program, [m for g in groups for m in g]),
        program.imports,
        tuple(context.notes),
        Aliases.of(body, context.buffers),
        tuple(sorted(context.no_alias)),
        own_shapes=own_shapes(program),
        no_points=program.shared_updates,
        per_element=program.per_element,
        seed=program.seed,
        turns=asked,
        integral_floats=integral_floats(program),
    )


def _indexed(program: ir.Program) -> bool:
    loops = {s.index for s in statements(program.body) if isinstance(s, ir.For)}
    return any(p.names() & loops for a in accesses(program.body) for p in a.index)
