"""What the passes know beside the statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from porter.diagnostics import Diagnostic
from porter.dtypes.dtype import DType
from porter.ir.axes import Range
from porter.ir.effects import defs, indices
from porter.ir.nodes import Axis, Buffer, Check, For, Program
from porter.ir.walk import statements, substitute_poly
from porter.sizes.polynomial import Poly, sym
from porter.support.names import NameSupply
from porter.support.reserved import told_apart


@dataclass(frozen=True)
class Surroundings:
    """What comes before and after the statement at hand, and the loops around it."""

    loops: tuple[Range, ...] = ()  # of the host, outermost first
    bound: frozenset[str] = frozenset()  # variables that may have a value by now
    assigned: frozenset[str] = frozenset()  # variables that have one whatever happened
    read_later: frozenset[str] = frozenset()  # variables, those that a loop reads again included
    used_later: frozenset[str] = frozenset()  # arrays

    def inside(self, loop: For) -> Surroundings:
        """The same for the statements inside a loop."""
        return replace(self, loops=(*self.loops, Range.of(loop)))


Mark = tuple[dict[str, Buffer], set[str], int]


@dataclass
class Context:
    """What the passes know beside the statements: buffers and the names in use."""

    program: Program
    buffers: dict[str, Buffer]
    taken: NameSupply = field(default_factory=NameSupply)
    notes: list[Diagnostic] = field(default_factory=list)
    # (written, read) arguments: what was to be read before is read after the store
    no_alias: set[tuple[str, str]] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)  # 0-d arrays that `transforms/loops/flags.py` made
    here: Surroundings = field(default_factory=Surroundings)  # while loops are placed
    schedules: tuple[object, ...] = ()  # those of the target, in order; empty for all
    alone: bool = False  # whether each line of a scan is one thread's
    values: bool = False  # whether a store makes another array: none is stored into twice

    @staticmethod
    def of(program: Program, schedules: Sequence[object] = ()) -> Context:
        """The context at the start."""
        taken = NameSupply(program.buffers)
        taken |= {q.name for p in program.parameters for q in (p, *p.items)}
        taken |= set(program.constants)
        for s in statements(program.body):
            # a new index of the name of one that is bound would be captured
            taken |= defs(s).arrays | defs(s).scalars | indices(s)
        return Context(
            program, dict(program.buffers), taken, no_alias=set(program.no_alias),
            schedules=tuple(schedules),
        )  # fmt: skip

    def mark(self) -> Mark:
        """The arrays, names and notes of now, to go back to where an attempt comes to nothing."""
        return dict(self.buffers), set(self.taken), len(self.notes)

    def back_to(self, mark: Mark) -> None:
        """Forget what an attempt has made."""
        self.buffers.clear()
        self.buffers.update(mark[0])
        self.taken = NameSupply(mark[1])
        del self.notes[mark[2] :]

    @property
    def checks(self) -> tuple[Check, ...]:
        """The run-time checks of the program."""
        return self.program.checks

    def user(self, name: str) -> str:
        """What the user calls a variable, an index or an array."""
        return self.program.shown.get(name, name)

    def fresh(self, name: str) -> str:
        """An unused name."""
        return self.taken.fresh(told_apart(name))

    def buffer(self, name: str, axes: Sequence[Axis], dtype: DType) -> Buffer:
        """A new array over a domain."""
        new = Buffer(self.fresh(name), tuple(a.extent for a in axes), replace(dtype, weak=False))
        self.buffers[new.name] = new
        return new

    def fresh_axes(self, axes: Sequence[Axis]) -> tuple[tuple[Axis, ...], dict[str, Poly]]:
        """The axes under new names, and the renaming."""
        names = {a.name: sym(self.fresh(a.name), True) for a in axes}
        new = tuple(
            Axis(
                names[a.name].name or "",
                substitute_poly(a.hi, names),
                substitute_poly(a.lo, names),
            )
            for a in axes
        )
        return new, names
