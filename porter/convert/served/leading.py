"""Whether a function is generic over its leading axes: it is lowered again, and compared.

No list of functions says so.  The array program for one axis more must be that of the function
with two indices in place of the leading one; so `axis=-1` passes and `axis=1` does not.  The
one for an axis less says whether the leading axis may be missing, and those in which only one
array is longer than 1 along it say whether the arrays broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.leading_axes import (
    LeadingAxes,
    NotGeneric,
    carriers,
    leading_results,
    lifted,
    plain,
)
from porter.guarded import doing_without
from porter.inference.types import ParameterType
from porter.ir.axes import symbols
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.elementwise import is_elementwise
from porter.schedule.nodes import Plan
from porter.sizes.polynomial import Dim
from porter.source.module import FunctionSource


def with_leading_axes(
    planned: Plan, function: FunctionSource, types: Sequence[ParameterType], scope: Globals,
    program: ir.Program, loose: frozenset[Dim] = frozenset(),
) -> Plan:  # fmt: skip
    """The plan, told which arguments take any number of leading axes."""
    if program.kept or program.ranked or planned.states or is_elementwise(planned):
        return planned
    for arrays in carriers(program):
        found = _Lowerings(function, types, scope, program, arrays, loose).leading()
        if found is not None:
            return led(planned, found)
    return planned


def for_any_rank(
    planned: Plan, function: FunctionSource, types: Sequence[ParameterType], scope: Globals,
    program: ir.Program,
) -> Plan:  # fmt: skip
    """The plan of an elementwise function, unless arrays with more axes have another program.

    `x.ravel()` of a line is that line.
    """
    if planned.per_element or not is_elementwise(planned):
        return planned
    arrays = tuple(p.name for p in planned.parameters if p.ndim is not None)
    other = _Lowerings(function, types, scope, program, arrays, frozenset()).program_for(2)
    if other is None or all(map(_is_at_own_index, statements(other.body))):
        return planned
    return replace(planned, indexed=True)


def _is_at_own_index(stmt: ir.Stmt) -> bool:
    """Whether a statement is for all elements of tables, and touches each at its place."""
    if not isinstance(stmt, (ir.Def, ir.Write)):
        return True
    found = [a.index for a in accesses((stmt,)) if a.index]
    return all(len(i) == 2 and i == symbols(stmt.axes) for i in found)


def led(planned: Plan, leading: LeadingAxes | None) -> Plan:
    """The plan with these leading axes, which the host function broadcasts."""
    if leading is None:
        return planned
    groups = tuple(g for g in planned.expandable if not any(map(leading.concerns, g)))
    widened = tuple(w for w in planned.widened if not leading.concerns(w[0]))
    less = len(groups) + len(widened) < len(planned.expandable) + len(planned.widened)
    if leading.fixed == leading.arrays and less:
        return planned  # one that is 1 long is served as it is
    return replace(planned, leading=leading, expandable=groups, widened=widened)


@dataclass(frozen=True)
class _Lowerings:
    """A function and the arguments of it that may have more leading axes."""

    function: FunctionSource
    types: Sequence[ParameterType]
    scope: Globals
    program: ir.Program
    arrays: tuple[str, ...]
    loose: frozenset[Dim]

    def leading(self) -> LeadingAxes | None:
        """What the comparisons come to; None where one axis more is another program."""
        results = leading_results(self.program, self.program.buffers[self.arrays[0]].shape[0])
        if results is None or not self._is_same(2):
            return None
        return LeadingAxes(
            self.arrays,
            results,
            0 if self._is_same(0) else 1,
            self._fixed(),
            self._kept(),
        )

    def _is_same(self, count: int) -> bool:
        """Whether the program for so many leading axes is this one."""
        try:
            expected = lifted(self.program, self.arrays, count)
            other = self.program_for(count)
            return other is not None and plain(other, self.arrays, count) == expected
        except NotGeneric:
            return False

    def _fixed(self) -> tuple[str, ...]:
        """The arrays that must have all leading axes; none if any of them may have them alone.

        What is right where one alone is long is right where others are long, too.
        """
        if len(self.arrays) == 1:
            return ()
        alone = [n for n in self.arrays if self._is_alone(n)]
        return () if len(alone) == len(self.arrays) else tuple(alone[:1]) or self.arrays

    def _is_alone(self, array: str) -> bool:
        """Whether the others broadcast: their elements are repeated where this one is longer."""
        others = [n for n in self.arrays if n != array]
        try:
            expected = lifted(self.program, self.arrays, 1, others)
            other = self.program_for(1, frozenset(Dim(n, 0).name for n in others))
            return other is not None and plain(other, self.arrays, 1, others) == expected
        except NotGeneric:
            return False

    def _kept(self) -> frozenset[str]:
        """The results that are 0-d arrays where there is no axis at all."""
        other = self.program_for(0)
        if other is None:
            return frozenset()
        return frozenset(
            v for s in statements(other.body) if isinstance(s, ir.Return)
            for v in s.values if isinstance(v, str) and not other.buffers[v].shape
        )  # fmt: skip

    def _moved(self, dim: Dim, count: int) -> Dim:
        return replace(dim, axis=dim.axis - 1 + count) if dim.array in self.arrays else dim

    def program_for(self, count: int, ones: frozenset[str] = frozenset()) -> ir.Program | None:
        names = [p.name for p in self.program.parameters]
        types = [
            replace(t, ndim=t.ndim - 1 + count) if n in self.arrays and t.ndim is not None else t
            for n, t in zip(names, self.types, strict=True)
        ]
        with doing_without():
            loose = frozenset(self._moved(d, count).name for d in self.loose)
            return build(self.function, types, self.scope, grow=False, ones=ones, loose=loose)
        return None
