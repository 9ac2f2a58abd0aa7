"""What a plan consists of: launches, and the statements of the host around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter import ir
from porter.analyses.leading_axes import LeadingAxes
from porter.analyses.turns import Turns
from porter.diagnostics import Diagnostic
from porter.ir.aliasing import Aliases
from porter.ir.nodes import STATES
from porter.schedule.base import Alternative, Kernel
from porter.sizes.polynomial import Dim, Poly


@dataclass(frozen=True)
class Launch:
    """A kernel launch in the host's sequence, or that of an alternative whose test holds."""

    kernel: Kernel
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class HostLoop:
    """A `for` that stays on the host around launches."""

    index: str
    lo: Poly
    hi: Poly
    step: int
    body: tuple[object, ...]
    origin: ir.Origin


@dataclass(frozen=True)
class HostWhile:
    """A `while` that stays on the host."""

    cond: ir.Expr
    body: tuple[object, ...]
    origin: ir.Origin


@dataclass(frozen=True)
class HostIf:
    """A branch on the host."""

    cond: ir.Expr
    body: tuple[object, ...]
    orelse: tuple[object, ...]
    origin: ir.Origin


def items_of(items: Sequence[object]) -> Iterator[object]:
    """Every host item, nested ones included."""
    for i in items:
        yield i
        if isinstance(i, (HostLoop, HostWhile)):
            yield from items_of(i.body)
        elif isinstance(i, HostIf):
            yield from items_of(i.body)
            yield from items_of(i.orelse)


def with_loops(
    items: Sequence[object], change: Callable[[HostLoop], Sequence[object]]
) -> tuple[object, ...]:
    """The host's sequence with what `change` makes of each loop; inside of one of which it makes
    nothing, it is asked again."""
    result: list[object] = []
    for item in items:
        match item:
            case HostLoop():
                found = change(item)
                result += found or [replace(item, body=with_loops(item.body, change))]
            case HostWhile():
                result.append(replace(item, body=with_loops(item.body, change)))
            case HostIf():
                body, orelse = (with_loops(b, change) for b in (item.body, item.orelse))
                result.append(replace(item, body=body, orelse=orelse))
            case _:
                result.append(item)
    return tuple(result)


@dataclass(frozen=True)
class ForNumbers:
    """What a function returns for numbers and for 0-d arrays in place of its arrays."""

    # the arguments for which each result is Python's number if all of them are
    python: tuple[tuple[str, ...], ...] = ()
    # of each result that is Python's number beside arrays: it is NumPy's if one of these is
    counted: tuple[tuple[str, ...], ...] = ()
    unlike: tuple[tuple[str, ...], ...] = ()  # those with which Python has another result
    # those that have another one where an array stands beside them: as Python's numbers of these
    # types, or as all of them
    alone: Mapping[str, str] = field(default_factory=dict)
    # results that are 0-d arrays then, and not scalars: for each `return` in order their positions,
    # and the arguments of which one must be an array for it; none where they always are
    kept: tuple[Mapping[int, tuple[str, ...]], ...] = ()
    # groups of arguments of which NumPy makes a float64 of its own, if all of one are numbers
    strong: tuple[tuple[str, ...], ...] = ()
    # what must be arrays beside such a group: with a number for `x`, `(x > 0) * y` is Python's
    beside: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    # those of which Python or NumPy makes an integer of its own before an array of integers is met;
    # None where nothing is computed with integers
    computed: tuple[tuple[str, ...], ...] | None = None
    # groups of integers of Python's that have other results than arrays beside single precision
    narrowing: tuple[tuple[str, ...], ...] = ()
    # types and groups of numbers that do, because Python's complex takes them for its floats
    as_floats: tuple[tuple[str, tuple[str, ...]], ...] = ()
    # numbers, and the arrays of integers beside which a float32 of NumPy's decides a dtype
    decides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # integers of which NumPy's make a float64 first, and the arrays of float32 that it promotes
    promotes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # groups of which Python computes something alone, and the largest integers of which float32
    # makes the same, but for its last digit
    exact: Mapping[tuple[str, ...], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Everything that code generation needs for one function."""

    name: str
    parameters: tuple[ir.Parameter, ...]
    buffers: dict[str, ir.Buffer]
    items: tuple[object, ...]
    checks: tuple[ir.Check, ...]
    docstring: str | None
    constants: dict[str, str]
    origin: ir.Origin
    indexed: bool = False
    strict: bool = False
    expandable: tuple[tuple[Dim, ...], ...] = ()
    widened: tuple[tuple[Dim, Poly], ...] = ()
    imports: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()  # loops that run on one thread
    aliases: Aliases = field(default_factory=Aliases)
    # (written, read) arguments that must not be one array
    no_alias: tuple[tuple[str, str], ...] = ()
    leading: LeadingAxes | None = None  # arguments that take any number of leading axes
    numbers: ForNumbers = ForNumbers()
    # which lists give Python's numbers: of floats and integers ("all"), of "floats", "none" is sure
    items_of_lists: str = ""
    # where results have shapes of their own: the arguments of each, whose shape it has
    own_shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    no_points: bool = False  # 0-d arrays give something else, and are refused
    any_width: bool = False  # the kernels are spelled for integers of 8 to 64 bits
    per_element: bool = False  # called for the elements of arrays, as a ufunc is
    broadcast: str = ""  # the function that serves calls in which an axis broadcasts
    seed: ir.Expr | None = None  # what the function gives its random numbers to start from
    turns: Turns = Turns()  # noqa: RUF009 (immutable): loops must turn where arrays have several shapes

    integral_floats: tuple[str, ...] = ()  # integer parameters that may be floats

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its kernels compute otherwise than NumPy, for the header of the module."""
        launches = [i for i in items_of(self.items) if isinstance(i, Launch)]
        kernels = (k for i in launches for k in (i.kernel, *(a.kernel for a in i.alternatives)))
        return tuple(dict.fromkeys(said for k in kernels if (said := k.schedule.remark(k))))

    @property
    def arrays(self) -> list[str]:
        """The arguments that are arrays."""
        return [p.name for p in self.parameters if p.ndim is not None]

    @property
    def states(self) -> str:
        """The argument of kernels with the states of the generators; empty if none draws."""
        return next((name for name, b in self.buffers.items() if b.draws == STATES), "")

    @property
    def unserved(self) -> tuple[ir.Check, ...]:
        """The checks that fail where NumPy broadcasts an axis and the host does not."""
        done = {d for group in self.expandable for d in group}
        return tuple(
            c for c in self.checks
            if c.ones and c.left.dim not in done
            and (c.left.dim not in self._widened or self.is_one_way(c))
            and not (self.leading is not None and self.leading.broadcasts(c))
        )  # fmt: skip

    def is_one_way(self, c: ir.Check) -> bool:
        """Whether the host widens an axis to another one, which may be the shorter one."""
        widened = self._widened
        return c.left.dim in widened and c.kind == "broadcast" and c.right.dim not in widened

    @property
    def _widened(self) -> frozenset[Dim]:
        return frozenset(d for d, _ in self.widened)
