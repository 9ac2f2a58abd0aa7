"""What a schedule is: how the threads of a launch share the work of a kernel.

A schedule is a class in a file of `schedules/`, registered in `registry.py`, with a template
`kernel_<name>.py.j2` that shows its loops, guards and barriers.  The planner asks which stores it
`matches` and what may join its launch, the host function for its `launches`, the model of cost
for its `threads` and `passes`, and the writer of kernels for the `slots` of its template.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

from porter import ir
from porter.dtypes.dtype import INT64
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import expressions
from porter.ir.ops import RESULT_NAMES
from porter.ir.walk import rewrite, statements, walk
from porter.schedule.writing import KernelWriter
from porter.sizes.polynomial import Poly

#: threads of a block, as generated modules have it, and of a warp
BLOCK, MANY, WARP = 256, 512, 32
#: barriers of a fold by all threads of a block, of one by warps (short rows have none, and
#: shuffles weigh as much as one), and of a scan
FOLD_BARRIERS, WARP_BARRIERS, SCAN_BARRIERS = 10, 1, 17


@dataclass(frozen=True)
class Spread:
    """The variables that squares of deviations are folded with (`once/spreads.py`), beside the
    `total` of another fold that their mean is made of.

    Of partial results, `arrays` are those with the counts and the centers.
    """

    total: str
    count: str
    turn: str
    origin: str
    center: str
    drift: str
    squares: str
    arrays: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them that are its own."""
        return self.count, self.turn, self.origin, self.center, self.drift, self.squares


@dataclass(frozen=True)
class Fold:
    """`name = ` an expression around reductions over the free indices of the kernel.

    One that is `shared` has its terms in the loop of the fold before it.  An `argument` is the
    first position of that extreme: both are found as one.  A `spread` is folded together with the
    mean that it is about.  What is `kept` is stored by the thread that folds it, for a later step.
    """

    name: str
    reductions: tuple[tuple[str, ir.Reduce], ...]
    value: ir.Expr
    origin: ir.Origin
    store: ir.Write | None = None
    shared: bool = False
    argument: str = ""
    kept: ir.Write | None = None
    spread: Spread | None = None

    @property
    def operands(self) -> tuple[ir.Expr, ...]:
        """What it reduces, and the expression around that."""
        return (*(r for _, r in self.reductions), self.value)


@dataclass(frozen=True)
class BlockLoop:
    """A loop that one block runs around folds and stages."""

    index: str
    lo: Poly
    hi: Poly
    step: int
    steps: tuple[BlockStep, ...]
    origin: ir.Origin


#: a `Let` names a number that is the same in all threads
BlockStep: TypeAlias = "Fold | ir.Stage | BlockLoop | ir.Let"


def flat(steps: Sequence[BlockStep]) -> Iterator[Fold | ir.Stage]:
    """Folds and stages in order, those inside loops included."""
    for s in steps:
        if isinstance(s, BlockLoop):
            yield from flat(s.steps)
        elif not isinstance(s, ir.Let):
            yield s


@dataclass(frozen=True)
class Kernel:
    """What one launch does over `axes`: the statements of a thread, or the steps of a block.

    It is `repeated` in a loop of the host.  It `counts` its blocks, so that the last one can fold
    what all have found, unless the target cannot.  Where the device counts the turns of the loop,
    the index `turn` is the element of the array `number`.
    """

    name: str
    schedule: Schedule
    axes: tuple[ir.Axis, ...]
    body: tuple[ir.Stmt, ...] = ()
    steps: tuple[BlockStep, ...] = ()
    origin: ir.Origin = field(default_factory=ir.Origin)
    repeated: bool = False
    counts: bool = True
    turn: str = ""
    number: str = ""

    @property
    def parts(self) -> tuple[Fold | ir.Stage, ...]:
        """The steps, those inside loops included."""
        return tuple(flat(self.steps))

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds among the steps."""
        return tuple(s for s in self.parts if isinstance(s, Fold))

    @property
    def reductions(self) -> tuple[tuple[str, ir.Reduce], ...]:
        """What the folds reduce, with the names of the results."""
        return tuple({name: (name, r) for f in self.folds for name, r in f.reductions}.values())

    @property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """The statements of its threads, those of steps included, but not the stores of folds."""
        return (*self.body, *(x for s in self.parts if isinstance(s, ir.Stage) for x in s.body))

    @property
    def draws(self) -> bool:
        """Whether its threads draw random numbers."""
        return any(isinstance(x, ir.Draw) for e in self.expressions() for x in walk(e))

    def expressions(self) -> Iterator[ir.Expr]:
        """Every expression: folds, bounds, and those of its statements."""
        yield from self.folded()
        for s in statements(self.statements):
            yield from expressions(s)

    def folded(self) -> Iterator[ir.Expr]:
        """The expressions of folds, and the bounds."""
        for f in self.folds:
            yield from f.operands
        for a in self.axes:
            yield from (ir.Value(a.lo, INT64), ir.Value(a.hi, INT64))


@dataclass(frozen=True)
class Fitted:
    """As many threads as a row of this length can use; of rows of any length, THREADS.

    With `warps`, a block has several short rows, each a warp.  Each of them keeps as much as a row
    of the array `kept` in shared memory, if that is one and has room there.
    """

    length: Poly | None = None
    warps: bool = False
    kept: str = ""


@dataclass(frozen=True)
class Grid:
    """The blocks and threads of one launch; texts are numbers or constants of the module.

    With a `shape`, a thread for each of its elements, or a `few` blocks that share them.  Otherwise
    `blocks` are elements along x, y and z with how many of them a block takes, the first of several
    (or of `whole`) for all elements, the others up to MAX_BLOCKS: no entry is one block.  `few`
    means no more blocks than partial results are worth, `again` as many as the launch before it.
    Blocks that are `counted` know which of them is the last one.

    With `columns`, how many there are, how many rows they have, and how many parts of them at most
    if the rows do not say that, all blocks share columns and parts of them; `again` one part.  With
    `splits`, rows, columns and terms of a matrix, blocks share large tiles of it and parts of the
    terms; `again` its elements.  Nothing is launched unless all `guards` are positive.  Where
    threads draw random numbers (`draws`), there are no more of them than generators.
    """

    blocks: tuple[tuple[Poly, str], ...] = ()
    threads: tuple[str, ...] | Fitted = ("THREADS",)
    guards: tuple[Poly, ...] = ()
    whole: bool = False
    few: bool = False
    again: bool = False
    shape: tuple[Poly, ...] = ()
    counted: bool = False
    columns: tuple[Poly, ...] = ()
    splits: tuple[Poly, ...] = ()
    draws: bool = False


@dataclass(frozen=True)
class Alternative:
    """A kernel that does the same by another schedule, for some shapes.

    The host function launches it where `test`, one of its helpers, says so of the `sizes`.
    """

    kernel: Kernel
    test: str
    sizes: tuple[Poly, ...]


@dataclass
class Around:
    """What a schedule may know of the program: names, how many statements touch an array, which
    names may mean one array.

    What it adds to `dropped` needs no array: only one kernel uses it, in registers.
    """

    context: Context
    users: Mapping[str, int]
    aliases: Aliases = field(default_factory=Aliases)
    dropped: set[str] = field(default_factory=set)


class Schedule(ABC):
    """One way to share the work among threads; its objects have no state."""

    #: `kernel_<name>.py.j2` is its template
    name: ClassVar[str]
    #: what the names of its kernels end in
    word: ClassVar[str] = ""
    #: what `--emit plan` says
    summary: ClassVar[str]
    #: whether threads work together on a store; if not, the statements are those of a thread
    together: ClassVar[bool] = True
    #: whether a barrier comes between the steps, so that each is read and stored by itself
    stepwise: ClassVar[bool] = False
    #: who runs a step over the axes of the kernel alone
    once: ClassVar[str] = "thread 0"
    #: whether threads share the lines of a running fold
    scans: ClassVar[bool] = False
    #: whether the compiler takes all arrays for distinct ones, as Numba does in a parallel loop
    distinct: ClassVar[bool] = False
    #: whether a store makes another array, as it does where arrays are in chunks
    values: ClassVar[bool] = False
    #: where its template is, if not among porter's own
    folder: ClassVar[Path | None] = None

    # -- planning ----------------------------------------------------------------------------

    @abstractmethod
    def matches(self, s: ir.Write | ir.Stage, buffers: Mapping[str, ir.Buffer]) -> bool:
        """Whether it can do this; the first of the registered ones that can is taken."""

    def start(self, s: ir.Write, around: Around) -> Kernel:
        """A kernel of one store."""
        if self.together:
            return Kernel("", self, s.axes, (), (fold_of(s, around.context),), s.origin)
        return Kernel("", self, s.axes, alone(s).body, origin=s.origin)

    def precedes(self, stage: ir.Stage, s: ir.Write, around: Around) -> ir.Stage | None:
        """What stands before a store as the first step of its kernel, if that is possible."""
        return None

    def absorb(self, kernel: Kernel, s: ir.Stmt, around: Around) -> Kernel | None:
        """The kernel with the next statement in the same launch, if that is possible."""
        return None

    def finish(self, kernel: Kernel, around: Around) -> Kernel:
        """The kernel when nothing more joins it."""
        return kernel

    def in_one_block(
        self, kernel: Kernel, loops: frozenset[str] | None
    ) -> tuple[BlockStep, ...] | None:
        """What one block would do in its place inside these host loops, if one is enough.

        Without `loops` its domain is short, of whatever length it is.
        """
        return None

    def alternatives(self, kernel: Kernel, around: Around) -> tuple[Alternative, ...]:
        """Kernels for shapes that another schedule suits better, in the order of their tests."""
        return ()

    # -- questions ---------------------------------------------------------------------------

    @abstractmethod
    def launches(self, kernel: Kernel) -> tuple[Grid, ...]:
        """The grid of each launch; the template has a kernel for each."""

    def threads(self, kernel: Kernel) -> tuple[int, tuple[ir.Axis, ...]]:
        """How many threads work at once, for each element of the axes."""
        return 1, kernel.axes

    def passes(self, kernel: Kernel) -> int:
        """How often a launch reads what it needs from memory."""
        return 1

    def barriers(self, kernel: Kernel) -> int:
        """How often the threads of a block wait for each other, for each row, tile or part."""
        return 0

    def steps_on(self, kernel: Kernel) -> bool:
        """Whether the compiler knows the steps of loops: addresses are added up then."""
        return False

    def describe(self, kernel: Kernel) -> str:
        """What `--emit plan` says of the kernel."""
        return self.summary

    def remark(self, kernel: Kernel) -> str:
        """What the module's header says of the kernel: what its numbers have otherwise."""
        lines = dict.fromkeys(f.origin.span.line for f in kernel.folds if f.spread is not None)
        if not lines:
            return ""
        where = f"line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"
        return (
            f"the squared deviations at {where} are summed in the pass that finds the mean, "
            "so rounded otherwise"
        )

    # -- text --------------------------------------------------------------------------------

    @abstractmethod
    def slots(self, kernel: Kernel, writers: KernelWriters) -> Mapping[str, object]:
        """What stands in the slots of the template; it asks for a writer for each launch."""


class KernelWriters(Protocol):
    """Makes a writer for each launch of a kernel, in their order."""

    buffers: dict[str, ir.Buffer]
    #: whether the lanes of a warp can give each other what they have
    shuffles: bool

    def writer(self, kernel: Kernel, partial: Sequence[ir.Buffer] = ()) -> KernelWriter:
        """A writer that knows the arrays and variables of a kernel, and partial results."""


def alone(s: ir.Write) -> ir.Stage:
    """A store as what each thread does by itself."""
    thread: ir.Stmt = replace(s, axes=(), mask=None)
    if s.mask is not None:
        thread = ir.If(s.mask, (thread,), (), s.origin)
    return ir.Stage(s.axes, (thread,), s.origin)


def fold_of(s: ir.Write, context: Context) -> Fold:
    """A store of an expression around reductions as local results and a value."""
    found: list[tuple[str, ir.Reduce]] = []

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Reduce):
            return None
        for name, known in found:
            if known == e:
                return ir.Local(name, e.dtype)
        name = context.fresh(RESULT_NAMES[e.op])
        found.append((name, e))
        return ir.Local(name, e.dtype)

    value = rewrite(s.body, change)
    return Fold(s.buffer, tuple(found), value, s.origin, s)
