"""What one launch does: elements read and written, operations, threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from porter import ir
from porter.analyses.accesses import expressions
from porter.cost.amounts import Amount
from porter.cost.scopes import Scope, data_lengths
from porter.ir.context import op_weight
from porter.ir.ops import UPDATES
from porter.ir.walk import children, statements, substitute
from porter.schedule.nodes import BlockLoop, BlockStep, Fold, Kernel
from porter.sizes.polynomial import Poly, sym

#: threads of a block, as generated modules have it
BLOCK = 256
#: what a `while` loop of a thread is taken to run
_ITERATIONS = "iterations"


@dataclass(frozen=True)
class KernelWork:
    """One kernel: how many launches it is, the threads that work at once, and what they do.

    `ops64` are operations in double precision, `ops32` all others.
    """

    name: str
    launches: int
    threads: Amount
    traffic: tuple[Amount, ...] = ()
    ops32: tuple[Amount, ...] = ()
    ops64: tuple[Amount, ...] = ()


def kernel_work(kernel: Kernel, buffers: dict[str, ir.Buffer], around: Scope) -> KernelWork:
    """What one launch of a kernel does, inside of the host's loops."""
    shapes = {name: b.shape for name, b in buffers.items()}
    lengths = data_lengths(kernel_expressions(kernel), shapes)
    # the loops of the host count the launches, their indices only bound what a launch does
    scope = Scope({}, around.means, lengths)
    counter = _Counter(buffers)
    line = kernel.kind == "scan" and len(kernel.axes) == 1
    if kernel.kind == "rows" or kernel.steps:
        counter.steps(kernel.steps, scope, scope.within(kernel.axes))
    else:
        counter.block(kernel.body, scope.within(kernel.axes))
    two = kernel.kind == "total" or line
    traffic = counter.traffic(2 if line else 1)
    threads = Amount(*_threads(kernel, scope))
    return KernelWork(
        kernel.name, 2 if two else 1, threads, traffic, tuple(counter.ops32), tuple(counter.ops64)
    )


def kernel_expressions(kernel: Kernel) -> Iterator[ir.Expr]:
    """Every expression of a kernel: folds, and those of its statements."""
    body = list(kernel.body)
    for step in kernel.parts:
        if isinstance(step, ir.Stage):
            body += step.body
        else:
            yield from (*(r for _, r in step.reductions), step.value)
    for s in statements(tuple(body)):
        yield from expressions(s)


def _threads(kernel: Kernel, scope: Scope) -> tuple[int, tuple[Poly, ...]]:
    """How many threads have work: one per element, a block per row, or one block."""
    if kernel.kind == "block":
        return BLOCK, ()
    if kernel.kind == "total":
        fold = next(s for s in kernel.parts if isinstance(s, Fold))
        return 1, scope.within(fold.reductions[0][1].axes).domain
    if kernel.kind == "rows":
        return BLOCK, scope.within(kernel.axes).domain
    if kernel.kind == "scan" and len(kernel.axes) > 1:
        return BLOCK, scope.within(kernel.axes[:-1]).domain
    return 1, scope.within(kernel.axes).domain


@dataclass
class _Counter:
    """Collects the accesses and operations of a kernel."""

    buffers: dict[str, ir.Buffer]
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
                case Fold(_, reductions, value, _, store):
                    for _, r in reductions:
                        self.expression(r, rows)
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
            case ir.Scan(_, (axis,), body, dtype):
                self.expression(substitute(body, {axis.name: sym(e.along, True)}), scope)
                self.operations(1, dtype.name, scope)
                return
            case ir.Reduce(_, axes, body, dtype):
                inner = scope.within(axes)
                self.expression(body, inner)
                self.operations(1, dtype.name, inner)
                return
            case ir.Op(op, args, dtype):
                wide = max([dtype, *(a.dtype for a in args)], key=lambda d: d.kind in "fc")
                self.operations(op_weight(op), wide.name, scope)
            case ir.Load(buffer, index):
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
