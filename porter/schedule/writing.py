"""What schedules ask of the writers of kernels, and what stands in the slots of templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from porter import ir
from porter.dtypes.dtype import DType
from porter.sizes.polynomial import Poly


class Lines(list[str]):
    """Lines for one slot, indented as the slot is; without any, its line is dropped."""


@dataclass(frozen=True)
class Loop:
    """A loop from `lo` to `hi`, its bounds computed by the lines `before`.

    One index for several axes gives their `subscripts`, the first lines of its body.  A body that
    `skips` goes on with the next turn from its middle.
    """

    index: str
    lo: str
    hi: str
    before: Lines
    subscripts: Lines = field(default_factory=Lines)
    skips: bool = False

    @property
    def offset(self) -> str:
        """What is added to a thread's own number."""
        return "" if self.lo == "0" else f"{self.lo} + "

    @property
    def bounds(self) -> str:
        """The arguments of `range` for all of it."""
        return self.hi if self.lo == "0" else f"{self.lo}, {self.hi}"


@dataclass(frozen=True)
class Turn:
    """A loop of which a thread has the turn `first`, and each one that is `step` further."""

    loop: Loop
    first: str
    step: str


class Turns(list[Turn]):
    """Such loops inside each other, the outermost first."""

    @property
    def before(self) -> Lines:
        """The lines that compute the bounds of all of them."""
        return Lines(line for turn in self for line in turn.loop.before)


@dataclass(frozen=True)
class Pieces:
    """The innermost of such loops in pieces: what stands before each, and the variables with the
    length of whole ones, with the turns of this one, and with those that are left."""

    before: Lines
    length: str
    piece: str
    left: str


class KernelWriter(Protocol):
    """Writes expressions and statements of one kernel; its arguments are collected on the way."""

    @property
    def names(self) -> dict[str, str]:
        """An index or a size of the plan -> what the kernel calls it."""

    @property
    def args(self) -> str:
        """The parameters so far."""

    @property
    def scalar(self) -> str:
        """The subscript of an array of no dimensions."""

    @property
    def fails(self) -> bool:
        """Whether an element may set an error."""

    @property
    def core_shapes(self) -> tuple[list[tuple[Poly, ...]], list[tuple[Poly, ...]]]:
        """The shapes of its parameters, those of the arrays that it makes apart."""

    @property
    def inputs(self) -> str:
        """The parameters so far, without the arrays that it makes."""

    def keep_axes(self, axes: Mapping[str, Sequence[int]], out: str, renewed: bool) -> None:
        """The kernel is called for each index of all other axes: its arguments lack those.

        What it stores is an element of `out`, which may be `renewed` from the one before; without
        `out`, it stores into what it is given.
        """

    def move_axes(self, orders: Mapping[str, tuple[int, ...]]) -> None:
        """The host gives these arrays with their axes in another order."""

    def give_again(self, names: Mapping[str, str]) -> None:
        """These results get the memory of arguments."""

    def index(self, name: str) -> str:
        """The kernel's name of an index."""

    def fresh(self, name: str) -> str:
        """A name that nothing else in the kernel has."""

    def variable(self, name: str) -> str:
        """Such a name, of a variable that the template sets and expressions read."""

    def poly(self, poly: Poly) -> str:
        """A size or subscript."""

    def operand(self, poly: Poly) -> str:
        """A size or subscript as one operand."""

    def expr(self, e: ir.Expr, outer: int = 0) -> str:
        """An expression; what it needs first goes into the lines."""

    def shared_type(self, dtype: DType) -> str:
        """A dtype as an array in shared memory has it."""

    def helper(self, *names: str) -> None:
        """Device functions that the template calls."""

    def slot(self) -> AbstractContextManager[Lines]:
        """What is written inside goes into the lines of a slot."""

    def emit(self, line: str) -> None:
        """One line."""

    def comment(self, origin: ir.Origin) -> None:
        """The source statement, once for each run of lines from it."""

    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Statements of a thread."""

    def inside(self) -> AbstractContextManager[None]:
        """What is computed inside a loop is not there after it."""

    def forget(self) -> None:
        """What was computed so far is not there for what follows."""

    def initial(self, r: ir.Reduce) -> str:
        """The value that a fold starts from."""

    def fold(self, r: ir.Reduce, name: str, operand: str = "", *, in_order: bool = False) -> str:
        """The statement that folds one more element, or an operand, into an accumulator.

        One that is folded `in_order` gives the same on every machine.
        """

    def gives(self, name: str, dtype: DType) -> str:
        """An argument for partial results, one for each block; the name that it has."""

    def keeps(self, buffer: ir.Buffer) -> None:
        """Partial results that the last block of the same launch reads."""

    def counts(self) -> str:
        """An argument that counts the blocks that are done, after partial results; its name."""

    def gets(self, buffer: ir.Buffer) -> None:
        """An argument with what an earlier launch gave."""

    def privatise(self, name: str) -> str:
        """A block's own copy of an array, which updates go to from now on; its name."""

    def stand_in(self, name: str, index: str, dtype: DType) -> ir.Load:
        """The element of an array in shared memory, as an operand."""
