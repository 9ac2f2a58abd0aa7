"""Axes of size 1 that the host cannot expand: the function is lowered again with strides.

An argument that stands alone, too, or what the function makes of it, meets a longer axis in some
calls.  Its index is multiplied by a number then, which the host sets to 0 where the axis is 1.

Where that would make the kernels slower, or where sizes are 1 that the function makes (`y[::2]`),
they stay as they are, and calls in which an axis broadcasts run kernels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.testable import untestable
from porter.convert.passes import plan
from porter.convert.served.leading import for_any_rank, led, with_leading_axes
from porter.convert.served.numbers import with_lists, with_numbers
from porter.guarded import doing_without
from porter.inference.types import ParameterType
from porter.ir.effects import defs_in
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.base import Schedule
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Launch, Plan, items_of
from porter.schedule.overlap import overlaps
from porter.sizes.polynomial import Dim
from porter.source.module import FunctionSource
from porter.support.names import NameSupply
from porter.support.reserved import given


@dataclass(frozen=True)
class Served:
    """A function with the ranks and the axes of size 1 that its kernels serve."""

    program: ir.Program
    plan: Plan
    loose: frozenset[Dim] = frozenset()
    beside: Served | None = None  # what serves the axes of size 1 that these kernels do not

    def again(self, program: ir.Program, schedules: Sequence[Schedule]) -> Plan:
        """The plan of the same function for other dtypes."""
        planned = led(plan(program, schedules), self.plan.leading)
        own = self.plan
        name = broadcast_name(program) if self.beside else ""
        return replace(
            planned,
            numbers=own.numbers,
            items_of_lists=own.items_of_lists,
            broadcast=name,
            indexed=own.indexed,
            no_points=own.no_points,
            any_width=own.any_width,
        )

    @property
    def names(self) -> frozenset[str]:
        """The sizes that have strides."""
        return frozenset(d.name for d in self.loose)


def broadcast_name(program: ir.Program) -> str:
    """The private function for calls in which an axis broadcasts."""
    base = re.sub(r"\W", "_", f"_{given(program.name).lstrip('_')}_broadcast")
    return NameSupply(program.around).unused(base)


def served(
    function: FunctionSource, types: Sequence[ParameterType], scope: Globals,
    program: ir.Program, planned: Plan, schedules: Sequence[Schedule], alone: bool = False,
) -> Served:  # fmt: skip
    """The function with leading axes, and with strides where nothing else serves a size of 1.

    Where it must stand `alone`, no other kernels serve what its own do not.
    """
    planned = for_any_rank(planned, function, types, scope, program)
    if is_elementwise(planned):
        planned = with_numbers(function, types, scope, planned, program)
    planned = with_lists(function, types, scope, planned)
    attempt = _Attempt(function, types, scope, program, planned, schedules)
    own = attempt.strided()
    if not (is_elementwise(planned) or own.plan.items_of_lists):
        own = replace(own, plan=with_numbers(function, types, scope, own.plan, program))
    # arrays of an elementwise function broadcast on the host, unless they must have one shape
    strict = is_elementwise(planned) and planned.strict and not planned.own_shapes
    raises = strict and any(c.ones for c in planned.checks)
    if alone or not (raises if is_elementwise(planned) else any(_reasons(own.plan))):
        return own
    name = broadcast_name(program)
    beside = attempt.beside(name)
    if beside is None:
        return own
    return replace(own, beside=beside, plan=replace(own.plan, broadcast=name))


@dataclass(frozen=True)
class _Attempt:
    """A function, and what it becomes without strides."""

    function: FunctionSource
    types: Sequence[ParameterType]
    scope: Globals
    program: ir.Program
    planned: Plan
    schedules: Sequence[Schedule]

    def strided(self) -> Served:
        """With strides if the kernels stay as fast, or else as it is."""
        leading = with_leading_axes(
            self.planned, self.function, self.types, self.scope, self.program
        )
        plain = Served(self.program, leading)
        loose = frozenset(_unserved(self.program, plain.plan))
        if not loose or self.program.kept or is_elementwise(self.planned):
            return plain
        other = self._with(loose)
        return plain if other is None or _kinds(other.plan) != _kinds(self.planned) else other

    def beside(self, name: str) -> Served | None:
        """A function of this name with a stride for whatever axis NumPy broadcasts."""
        arrays = [p for p in self.program.parameters if p.ndim is not None]
        loose = frozenset(Dim(p.name, d) for p in arrays for d in range(p.ndim or 0))
        return self._with(loose, name)

    def _with(self, loose: frozenset[Dim], name: str = "") -> Served | None:
        """With strides for these axes; None where it is refused."""
        names = frozenset(d.name for d in loose)
        with doing_without():
            partial = bool(self.program.kept)
            other = build(self.function, self.types, self.scope, partial, grow=False, loose=names)
            if name:
                other = replace(other, name=name, docstring=None)
            mine = self.planned
            planned = replace(
                plan(other, self.schedules),
                numbers=mine.numbers,
                items_of_lists=mine.items_of_lists,
            )
            known = [q.name for p in planned.parameters for q in (p, *p.items)]
            if not untestable(planned.checks, known, items_of(planned.items)):
                leading = with_leading_axes(
                    planned, self.function, self.types, self.scope, other, loose
                )
                return Served(other, leading, loose)
        return None


def _unserved(program: ir.Program, planned: Plan) -> Iterator[Dim]:
    """The sizes that NumPy broadcasts and the host does not."""
    stored = defs_in(program.body).arrays  # a store asks for the whole length
    leading = planned.leading
    for c in planned.unserved:
        dim = c.left.dim
        if (
            dim is None
            or planned.is_one_way(c)
            or c.kind not in ("broadcast", "store")
            or dim.array in stored
        ):
            continue
        if leading is None or not leading.concerns(dim):  # strides would cost the other ranks
            yield dim


def _reasons(planned: Plan) -> Iterator[ir.Check]:
    """The checks for which other kernels are made.

    Of two axes that meet, the host widens the one that does not stand alone.  The other one may
    be 1 long, unless it is the target of a store.
    """
    written = overlaps(planned).written
    for c in planned.unserved:
        target = c.right.dim is not None and c.right.dim.array in written
        if not (planned.is_one_way(c) and target):
            yield c


def _kinds(planned: Plan) -> list[str]:
    """The schedules of the kernels in order: none of them may become a slower one."""
    return [type(i.kernel.schedule).__name__ for i in items_of(planned.items)
            if isinstance(i, Launch)]  # fmt: skip
