"""A function converted again: for other types, in the way of the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.codegen.module.module import FunctionText, function_text
from porter.convert.attempt import exact
from porter.convert.casts import Casts
from porter.convert.served.promotion import Question
from porter.convert.served.strides import Served, served
from porter.convert.served.variants import Made, may_vary
from porter.guarded import doing_without
from porter.inference.types import ParameterType
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import Plan
from porter.source.module import FunctionSource
from porter.target.base import Target


@dataclass(frozen=True)
class How:
    """How a function is converted, whatever its types; `partial` keeps statements on the host."""

    scope: Globals
    target: Target
    partial: bool
    siblings: bool
    casts: Casts | None = None
    #: the array programs made so far: half of those that are asked for were asked for before
    programs: dict[tuple[object, ...], ir.Program | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    def served(
        self, function: FunctionSource, types: tuple[ParameterType, ...], program: ir.Program,
        planned: Plan,
    ) -> Made:  # fmt: skip
        """A form of the function, with the ranks and the axes of size 1 that its kernels serve."""
        if self.target.chunked:
            # what the host cannot broadcast raises: chunks have no strides
            return Made(types, Served(program, planned))
        schedules, alone = self.target.schedules, not may_vary(function, self.target)
        return Made(types, served(function, types, self.scope, program, planned, schedules, alone))

    def exact(
        self, function: FunctionSource, types: Sequence[ParameterType], idle: bool = False
    ) -> Made | None:
        """The form for these very types, which may be `idle`; None where they are refused."""
        found = exact(function, types, self.scope, self.partial, self.target.schedules, idle)
        return None if found is None else self.served(function, *found)

    def raising(self, planned: Plan) -> FunctionText | None:
        """The text that raises where an axis broadcasts, if other kernels serve such calls."""
        if not planned.broadcast:
            return None
        return function_text(replace(planned, broadcast=""), self.target)


@dataclass(frozen=True)
class Again:
    """A form of a function, to convert it again for other types."""

    how: How
    served: Served

    def program(
        self, function: FunctionSource, types: Sequence[ParameterType],
        way: tuple[bool, ...] | None = None,
    ) -> ir.Program | None:  # fmt: skip
        """The array program for these types; None where they are refused."""
        made, known = self.served, self.how.programs
        key = (function.node, tuple(types), not made.loose, made.names, way)
        if key not in known:
            known[key] = self._built(function, types, way)
        other = known[key]
        # what serves broadcast axes is a private function
        own = made.program
        return other and replace(other, name=own.name, docstring=own.docstring)

    def _built(
        self, function: FunctionSource, types: Sequence[ParameterType],
        way: tuple[bool, ...] | None,
    ) -> ir.Program | None:  # fmt: skip
        how, made = self.how, self.served
        with doing_without():
            grow = not made.loose  # as `strides` builds what has them
            return build(function, types, how.scope, how.partial, grow=grow, loose=made.names,
                         way=way)  # fmt: skip
        return None

    @property
    def _floats(self) -> frozenset[str]:
        """The arguments of floats, as which integers in their place are spelled."""
        buffers = self.served.program.buffers
        return frozenset(n for n, b in buffers.items() if b.dtype.kind == "f")

    def planned(self, program: ir.Program) -> Plan:
        """The plan of such a program."""
        return self.served.again(program, self.how.target.schedules)

    def text(
        self, function: FunctionSource, types: Sequence[ParameterType]
    ) -> tuple[object, ...] | None:
        """What identifies the text for these types; None where they are refused."""
        program = self.program(function, types)
        if program is None:
            return None
        with doing_without():
            planned = self.planned(program)
            return function_text(planned, self.how.target, self._floats).key()
        return None


def in_float64(
    question: Question, function: FunctionSource, again: Again, text: FunctionText
) -> Question | None:
    """The question for float64, as which arguments are converted; None where another text serves
    it."""
    if all(t.ndim is None or t.dtype.name != "float32" for t in question.types):
        return question
    wide = question.in_float64
    return wide if wide and again.text(function, wide.types) == text.key() else None
