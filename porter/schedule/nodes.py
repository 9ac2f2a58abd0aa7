"""What a plan consists of: stages, the kernels made of them, and the host's statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from porter import ir
from porter.diagnostics import Diagnostic
from porter.ir.aliasing import Aliases
from porter.sizes.polynomial import Dim, Poly


@dataclass(frozen=True)
class Fold:
    """`name = ` an expression around reductions over the free indices of the kernel."""

    name: str
    reductions: tuple[tuple[str, ir.Reduce], ...]
    value: ir.Expr
    origin: ir.Origin
    store: ir.Write | None = None


@dataclass(frozen=True)
class BlockLoop:
    """A loop that one block runs around folds and stages."""

    index: str
    lo: Poly
    hi: Poly
    step: int
    steps: tuple[BlockStep, ...]
    origin: ir.Origin


BlockStep: TypeAlias = "Fold | ir.Stage | BlockLoop"


def flat(steps: Sequence[BlockStep]) -> Iterator[Fold | ir.Stage]:
    """Folds and stages in order, those inside loops included."""
    for s in steps:
        if isinstance(s, BlockLoop):
            yield from flat(s.steps)
        else:
            yield s


@dataclass(frozen=True)
class Kernel:
    """One launch.

    kind `map`: a thread per element of `axes`, running `body`;
    kind `private`: the same, small arrays that are added to being private to the blocks;
    kind `rows`: a block per element of `axes`; `steps` are folds (by the whole block) and
    stages over one more axis;
    kind `total`: all blocks fold `steps` (no axes), a second launch joins the partial results;
    kind `tile`: `axes` end in the row and column of a contraction kept in `steps`;
    kind `block`: one block runs `steps` in order, loops among them, with barriers between.
    """

    name: str
    kind: str
    axes: tuple[ir.Axis, ...]
    body: tuple[ir.Stmt, ...] = ()
    steps: tuple[BlockStep, ...] = ()
    origin: ir.Origin = field(default_factory=ir.Origin)

    @property
    def parts(self) -> tuple[Fold | ir.Stage, ...]:
        """The steps, those inside loops included."""
        return tuple(flat(self.steps))


@dataclass(frozen=True)
class Launch:
    """A kernel launch in the host's sequence."""

    kernel: Kernel


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
    apart: tuple[tuple[str, str], ...] = ()  # (written, read) arguments that must not be one array
