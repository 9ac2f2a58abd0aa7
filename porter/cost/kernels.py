"""What one launch does: elements read and written, operations, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter import ir
from porter.cost.amounts import Amount
from porter.cost.scopes import Scope, data_lengths
from porter.ir.effects import expressions
from porter.ir.ops import UPDATES
from porter.ir.recurrences import operands
from porter.ir.walk import children, substitute
from porter.ir.weights import op_weight
from porter.schedule.base import BlockLoop, BlockStep, Fold, Kernel
from porter.sizes.polynomial import Poly, sym

#: what a `while` loop of a thread is taken to run
_ITERATIONS = "iterations"


@dataclass(frozen=True)
class KernelWork:
    """One kernel: how many launches it is, the threads that work at once, and what they do.

    `ops64` are operations in double precision, `ops32` all others; `barriers` are those of a
    block for each row, tile or part.  `steps_on` says that addresses are added up.
    """

    name: str
    launches: int
    threads: Amount
    traffic: tuple[Amount, ...] = ()
    ops32: tuple[Amount, ...] = ()
    ops64: tuple[Amount, ...] = ()
    barriers: int = 0
    steps_on: bool = False


def kernel_work(kernel: Kernel, buffers: dict[str, ir.Buffer], around: Scope) -> KernelWork:
    """What one launch of a kernel does, inside of the host's loops."""
    schedule = kernel.schedule
    shapes = {name: b.shape for name, b in buffers.items()}
    lengths = data_lengths(kernel.expressions(), shapes)
    # the loops of the host count the launches, their indices only bound what a launch does
    scope = Scope({}, around.means, lengths)
    kept = frozenset(f.kept.buffer for f in kernel.folds if f.kept is not None)
    counter = _Counter(buffers, kept)
    counter.steps(kernel.steps, scope, scope.within(kernel.axes))
    counter.block(kernel.body, scope.within(kernel.axes))
    each, axes = schedule.threads(kernel)
    return KernelWork(
        kernel.name, len(schedule.launches(kernel)), Amount(each, scope.within(axes).domain),
        counter.traffic(schedule.passes(kernel)), tuple(counter.ops32), tuple(counter.ops64),
        schedule.barriers(kernel), schedule.steps_on(kernel),
    )  # fmt: skip


#: operations of an element of two values: in either launch its step is composed eight times with
#: earlier ones, by 12 products, 8 sums and 6 more that tell whether the result is used
_COMPOSED = 2 * 8 * 26
#: those of each state of an element: as often, its field is taken from two maps and put into one
_OF_A_STATE = 2 * 8 * 6
#: the same for a sum within bounds: 3 sums, 6 comparisons for its bounds and 8 with the limit
_BOUNDED = 2 * 8 * 17
#: those of a quotient, in three launches: 8 products, 4 sums, and 12 more that scale the result
_QUOTIENT = 3 * 8 * 24
#: operations of an element whose deviation is folded with the mean, beside those of its square
_SPREAD = 8


@dataclass
class _Counter:
    """Collects the accesses and operations of a kernel; of what is `kept` no thread reads more
    than its own."""

    buffers: dict[str, ir.Buffer]
    kept: frozenset[str] = frozenset()
    reads: dict[tuple[object, ...], tuple[str, tuple[Poly, ...]]] = field(default_factory=dict)
    writes: dict[tuple[object, ...], tuple[str, tuple[Poly, ...]]] = field(default_factory=dict)
    ops32: list[Amount] = field(default_factory=list)
    ops64: list[Amount] = field(default_factory=list)

    def traffic(self, passes: int) -> tuple[Amount, ...]:
        """Bytes of device memory; what is read in several passes counts in each."""
        found = []
        for sites, times in ((self.reads, passes), (self.writes, 1)):
            for name, touched in sites.values():
                buffer = self.buffers[name]
                found.append(Amount(times * buffer.dtype.itemsize, touched, buffer.shape))
        return tuple(found)

    # -- statements --------------------------------------------------------------------

    def block(self, body: Sequence[ir.Stmt], scope: Scope) -> None:
        """Statements that each run once for the scope's domain."""
        for s in body:
            for e in expressions(s):
                self.expression(e, scope)
            match s:
                case ir.Write():
                    self.store(s.buffer, s.index, scope)
                    if s.combine in UPDATES:
                        self.site(self.reads, s.buffer, s.index, scope)
                        self.operations(1, self.buffers[s.buffer].dtype.name, scope)
                case ir.For(index, lo, hi, step, inner, _):
                    self.block(inner, scope.loop(index, lo, hi, step))
                case ir.While(_, inner, _):
                    self.block(inner, scope.loop(_ITERATIONS, Poly(), sym(_ITERATIONS, True), 1))
                case ir.If(_, first, second, _):
                    self.block(first, scope)
                    self.block(second, scope)
                case ir.Stage(axes, inner, _):
                    self.block(inner, scope.within(axes))

    def steps(self, steps: Sequence[BlockStep], outer: Scope, rows: Scope) -> None:
        """What blocks do in turn: folds and stores in each row, stages over more axes."""
        for s in steps:
            match s:
                case Fold(_, reductions, value, _, store, spread=spread):
                    for _, r in reductions:
                        self.expression(r, rows)
                        if spread is not None:
                            self.operations(_SPREAD, r.dtype.name, rows.within(r.axes))
                    self.expression(value, rows)
                    if store is not None:
                        self.store(store.buffer, store.index, rows)
                case BlockLoop(index, lo, hi, step, inner, _):
                    looped = outer.loop(index, lo, hi, step)
                    self.steps(inner, looped, looped)
                case ir.Stage(axes, body, _):
                    self.block(body, outer.within(axes))

    # -- what is counted ---------------------------------------------------------------

    def expression(self, e: ir.Expr, scope: Scope) -> None:
        """Operations and reads of one evaluation for each point of the domain."""
        match e:
            case ir.Scan(_, (axis,), _, dtype):
                here = {axis.name: sym(e.along, True)}
                for part in operands(e).values():
                    self.expression(substitute(part, here), scope)
                    self.operations(1, dtype.name, scope)
                if isinstance(e, ir.Coupled):
                    self.operations(_COMPOSED, dtype.name, scope)
                if isinstance(e, ir.StateMaps):
                    self.operations(_OF_A_STATE * e.count, dtype.name, scope)
                if isinstance(e, ir.Bounded):
                    self.operations(_BOUNDED, dtype.name, scope)
                if isinstance(e, ir.Quotient):
                    self.operations(_QUOTIENT, dtype.name, scope)
                return
            case ir.Reduce(_, axes, body, dtype):
                inner = scope.within(axes)
                self.expression(body, inner)
                self.operations(1, dtype.name, inner)
                return
            case ir.Op(op, args, dtype):
                wide = max([dtype, *(a.dtype for a in args)], key=lambda d: d.kind in "fc")
                self.operations(op_weight(op), wide.name, scope)
            case ir.Load(buffer, index) if buffer not in self.kept:
                self.site(self.reads, buffer, index, scope)
            case ir.Select(dtype=dtype):
                self.operations(1, dtype.name, scope)
        for child in children(e):
            self.expression(child, scope)

    def operations(self, weight: int, dtype: str, scope: Scope) -> None:
        """Operations in each point of the domain."""
        double = dtype in ("float64", "complex128")
        (self.ops64 if double else self.ops32).append(Amount(weight, scope.domain))

    def store(self, buffer: str, index: tuple[Poly, ...], scope: Scope) -> None:
        """One store in each point of the domain."""
        self.site(self.writes, buffer, index, scope)

    def site(
        self,
        sites: dict[tuple[object, ...], tuple[str, tuple[Poly, ...]]],
        buffer: str,
        index: tuple[Poly, ...],
        scope: Scope,
    ) -> None:
        """An access; those over equal ranges, constants left out, share their elements."""
        if buffer not in self.buffers:
            return
        ranges = {name: sym(f"<{extent}>", True) for name, extent in scope.extents.items()}
        key = (buffer, *((p - p.offset).replace(ranges) for p in index))
        known = sites.get(key)
        touched = scope.touched(index)
        if known is None or len(touched) > len(known[1]):
            sites[key] = (buffer, touched)
