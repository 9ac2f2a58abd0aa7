"""What is known of a kernel while it is written: its arguments, its names, its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field

from porter import ir
from porter.codegen.module.marks import one_line, quoted
from porter.dtypes.dtype import INT64, DType
from porter.schedule.base import Grid
from porter.schedule.writing import Lines
from porter.sizes.polynomial import Atom
from porter.support.names import NameSupply


@dataclass
class Needs:
    """What the module must provide for the kernels written so far.

    The dtypes of the arguments `like_floats` are spelled as those of floats are: `T(1.0)`.  With
    `any_width` integers wrap around as those of the arguments' dtypes do, whichever these are.
    """

    helpers: set[str] = field(default_factory=set)
    math: set[str] = field(default_factory=set)
    numpy: bool = False
    numba_types: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    like_floats: Set[str] = frozenset()
    any_width: bool = False

    def is_narrow(self, dtype: DType) -> bool:
        """Whether integers may be of fewer bits than those in which Numba computes."""
        narrow = dtype.itemsize < 8 or (self.any_width and dtype.var is not None)
        return dtype.kind in "iu" and narrow


@dataclass(frozen=True)
class GivenAxes:
    """Of arguments that lack axes of their arrays: those that they have, the order in which the
    host gives all of them, and the results that get the memory of arguments."""

    kept: Mapping[str, Sequence[int]] = field(default_factory=dict)
    moved: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    again: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """One launch of a kernel: what the host function gives it, in order, and its grid.

    Arrays in `stored` are stored into, those in `made` are only that; `partials` are arrays with an
    element for each block.
    """

    name: str
    grid: Grid
    arrays: tuple[str, ...]
    stored: frozenset[str]
    scalars: tuple[tuple[ir.Expr, DType], ...]
    sizes: tuple[str, ...]
    partials: tuple[DType, ...]
    errors: frozenset[int]
    made: tuple[str, ...] = ()
    axes: GivenAxes = GivenAxes()


@dataclass
class Head:
    """What a kernel takes; `order` is that of the function's own arguments.

    `types` are the names of dtype variables, `partials` arrays with an element for each block (and
    the counter of those that are done, where they are counted), `errors` the elements of `error`
    that its threads may set.  Of `arrays`, those that are made are given all the same where that is
    marked: their elements depend on those before.
    """

    name: str
    buffers: dict[str, ir.Buffer]
    order: Sequence[str]
    arrays: dict[str, bool] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    scalars: dict[tuple[ir.Expr, DType], str] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    partials: dict[str, DType] = field(default_factory=dict)
    errors: set[int] = field(default_factory=set)

    @property
    def args(self) -> str:
        """The parameters."""
        args = [*self.given, *self.parts()[1], *self.partials]
        return ", ".join([*args, *(["error"] if self.errors else [])])

    @property
    def given(self) -> list[str]:
        """The parameters without the arrays that it makes."""
        return [*self.parts()[0], *self.scalars.values(), *self.sizes.values()]

    @property
    def types_given(self) -> list[DType]:
        """The dtypes of these."""
        arrays = [self.buffers[n].dtype for n in self.parts()[0]]
        return [*arrays, *(dtype for _, dtype in self.scalars), *[INT64] * len(self.sizes)]

    @property
    def types_taken(self) -> list[DType]:
        """The dtypes of all parameters."""
        return [*self.types_given, *(self.buffers[n].dtype for n in self.parts()[1])]

    @property
    def result(self) -> DType:
        """The dtype of the one array that it stores into."""
        (stored,) = self.written
        return self.buffers[stored].dtype

    def launch(self, grid: Grid) -> Written:
        """How the host launches the kernel."""
        inputs, outputs = self.parts()
        partials = [*self.partials.values()]
        if grid.counted:
            partials.pop()
        return Written(
            self.name, grid, (*inputs, *outputs), frozenset(self.written), tuple(self.scalars),
            tuple(self.sizes), tuple(partials), frozenset(self.errors),
            tuple(outputs),
        )  # fmt: skip

    def makes(self, name: str) -> bool:
        """Whether an array is new."""
        given = self.buffers[name].parameter or self.arrays.get(name)
        return name in self.written and not given

    def parts(self) -> tuple[list[str], list[str]]:
        """Arrays that are read or given, and those that are made, in the order of arguments."""
        arrays = [n for n in self.order if n in self.arrays]
        arrays += [n for n in self.arrays if n not in arrays]
        arrays.sort(key=lambda n: n in self.written)
        made = [n for n in arrays if self.makes(n)]
        return [n for n in arrays if n not in made], made


@dataclass
class Naming:
    """The names of a kernel: those of indices, those that are taken, those of its variables.

    `error` is the array that a thread notes in what it found wrong.
    """

    constants: set[str]
    taken: NameSupply
    names: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    error: str = "error"

    def index(self, name: str) -> str:
        """The kernel's name of an index: i, j, k, ... or the user's."""
        if name not in self.names:
            base = name.rstrip("0123456789")
            if base.endswith("_") and base != "_":
                base = next((c for c in "ijkpqr" if c not in self.taken), "k")
            elif base == "_":
                base = "step"
            self.names[name] = self.taken.fresh(base)
        return self.names[name]


@dataclass
class Text:
    """Lines, those that come before all others, and the source lines that comments have quoted."""

    lines: Lines = field(default_factory=Lines)
    indent: int = 0
    shown: set[tuple[int, str]] = field(default_factory=set)
    first: list[str] = field(default_factory=list)

    def emit(self, line: str) -> None:
        """One line at the current indentation."""
        self.lines.append("    " * self.indent + line)

    @contextmanager
    def slot(self) -> Iterator[Lines]:
        """What is written inside goes into the lines of a slot."""
        outer, depth = self.lines, self.indent
        self.lines, self.indent = Lines(), 0
        yield self.lines
        self.lines, self.indent = outer, depth

    def comment(self, origin: ir.Origin) -> None:
        """The source statement (with its own comments), once for each run of lines from it."""
        key = (origin.span.line, origin.text)
        if not origin.text or key in self.shown:
            return
        self.shown.add(key)
        for own in origin.comments:
            self.emit(one_line(own))
        self.emit(quoted(origin))

    def own_comments(self, origin: ir.Origin) -> None:
        """The comments that stand at a source statement, once."""
        for own in origin.comments:
            key = (origin.span.line, own)
            if key not in self.shown:
                self.shown.add(key)
                self.emit(one_line(own))


@dataclass
class Computed:
    """What variables of a thread hold already: clamped bounds, and folds of this statement.

    `keeps` says whether what is written is one statement, so that its folds hold; `stored` is what
    an array of its own dtype makes wrap around.
    """

    bounds: dict[Atom, str] = field(default_factory=dict)
    results: dict[ir.Reduce, str] = field(default_factory=dict)
    keeps: bool = False
    stored: ir.Expr | None = None
