"""Axes of size 1 that the host cannot expand: the function is lowered again with strides.

An argument that stands alone, too, or what the function makes of it, meets a longer axis in some
calls.  Its index is multiplied by a number then, which the host sets to 0 where the axis is 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.convert.passes import plan
from porter.convert.served.leading import led, with_leading_axes
from porter.convert.served.numbers import python_results, with_lists
from porter.diagnostics import Refusal
from porter.inference.types import ParameterType
from porter.ir.effects import defs_in
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.base import Schedule
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Launch, Plan, items_of
from porter.sizes.polynomial import Dim
from porter.source.module import FunctionSource


@dataclass(frozen=True)
class Served:
    """A function with the ranks and the axes of size 1 that its kernels serve."""

    program: ir.Program
    plan: Plan
    loose: frozenset[Dim] = frozenset()

    def again(self, program: ir.Program, schedules: Sequence[Schedule]) -> Plan:
        """The plan of the same function for other dtypes."""
        planned = led(plan(program, schedules), self.plan.leading)
        own = self.plan
        return replace(planned, python=own.python, items_of_lists=own.items_of_lists)

    @property
    def names(self) -> frozenset[str]:
        """The sizes that have strides."""
        return frozenset(d.name for d in self.loose)


def served(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals,
    program: ir.Program, planned: Plan, schedules: Sequence[Schedule],
) -> Served:  # fmt: skip
    """The function with leading axes, and with strides where nothing else serves a size of 1."""
    planned = replace(planned, python=python_results(function, types, scope, planned))
    planned = with_lists(function, types, scope, planned)
    plain = Served(program, with_leading_axes(planned, function, types, scope, program))
    loose = frozenset(_unserved(program, plain.plan))
    if not loose or program.kept or is_elementwise(planned):
        return plain
    try:
        names = frozenset(d.name for d in loose)
        other = build(function, types, scope, grow=False, loose=names)
        replanned = plan(other, schedules)
    except (Refusal, RecursionError):
        return plain
    except Exception:
        if os.environ.get("PORTER_DEBUG"):
            raise
        return plain  # an error of porter's own: the function does without
    if _kinds(replanned) != _kinds(planned):
        return plain
    return Served(other, with_leading_axes(replanned, function, types, scope, other, loose), loose)


def _unserved(program: ir.Program, planned: Plan) -> Iterator[Dim]:
    """The sizes that NumPy broadcasts and the host does not."""
    served = {d for group in planned.expandable for d in group} | {d for d, _ in planned.widened}
    stored = defs_in(program.body).arrays  # a store asks for the whole length
    for c in program.checks:
        dim = c.left.dim
        if dim is None or c.kind not in ("broadcast", "store") or dim in served:
            continue
        if dim.array in stored:
            continue
        if planned.leading is None or not planned.leading.concerns(dim):
            yield dim


def _kinds(planned: Plan) -> list[str]:
    """The schedules of the kernels in order: none of them may become a slower one."""
    return [type(i.kernel.schedule).__name__ for i in items_of(planned.items)
            if isinstance(i, Launch)]  # fmt: skip
