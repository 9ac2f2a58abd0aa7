"""Whether the rows of a function's results depend on nothing but the rows of its arguments.

Rows are what axis 0 counts.  Chunks of rows can be computed one after the other, or at once, if
every kernel reads and stores rows at its own row alone, and nobody asks how many rows there are or
which one it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter import ir
from porter.analyses.accesses import Access, accesses, reads
from porter.dtypes.dtype import INT64
from porter.ir.effects import axes_of, expressions
from porter.ir.walk import statements, walk
from porter.schedule.base import BlockLoop, BlockStep, Kernel
from porter.schedule.chunked.places import names_in, polys_of
from porter.schedule.nodes import HostIf, HostLoop, Launch, Plan, items_of
from porter.sizes.polynomial import Dim, Poly


class _Whole(Exception):
    """Why a function needs all rows at once."""


@dataclass(frozen=True)
class Rows:
    """The arguments whose rows are those of the results."""

    arrays: tuple[str, ...]


def rows_of(plan: Plan) -> Rows | str:
    """The arguments that can be given in chunks of rows, or why none can."""
    try:
        return _rows(plan)
    except _Whole as whole:
        return str(whole)


def _rows(plan: Plan) -> Rows:
    if plan.states:
        raise _Whole("it draws random numbers")
    size = _size(plan)
    rows = _Rows(plan, size)
    for buffer in plan.buffers.values():
        for d, n in enumerate(buffer.shape):
            if rows.counts(n) and (d or not rows.has(buffer)):
                raise _Whole(f"axis {d} of `{buffer.name}` depends on how long axis 0 is")
    for item in items_of(plan.items):
        rows.item(item)
    for check in plan.checks:
        same = check.kind in ("equal", "broadcast", "store") and not check.when
        dims = all(p.dim is not None and p.dim.axis == 0 for p in (check.left, check.right))
        if not (same and dims and not check.conditions) and rows.counts(check.left, check.right):
            raise _Whole("it tests how long axis 0 is")
    arrays = tuple(p.name for p in plan.parameters if p.ndim and rows.has(plan.buffers[p.name]))
    if not arrays:
        raise _Whole("no argument has the rows of the results")
    return Rows(arrays)


def _size(plan: Plan) -> Poly:
    """How many rows the results have."""
    returns = [i for i in items_of(plan.items) if isinstance(i, ir.Return)]
    sizes: set[Poly] = set()
    for item in returns:
        for value in item.values:
            if not isinstance(value, str) or not plan.buffers[value].shape:
                raise _Whole("a result is no array")
            if plan.buffers[value].parameter:
                raise _Whole(f"`{value}` is an argument and a result")
            sizes.add(plan.buffers[value].shape[0])
        if item.squeezed or item.given:
            raise _Whole("a result has another shape than its rows")
    if not returns:
        raise _Whole("it stores into its arguments and returns nothing")
    if len(sizes) != 1:
        raise _Whole("its results have different numbers of rows")
    (size,) = sizes
    if size.dim is None or size.dim.axis != 0:
        raise _Whole("axis 0 of the results is not axis 0 of an argument")
    return size


class _Rows:
    """Raises `_Whole` for what cannot be done row by row."""

    def __init__(self, plan: Plan, size: Poly) -> None:
        self.plan, self.size = plan, size
        ends = (Dim(b.name, 0).name for b in plan.buffers.values() if self.has(b))
        self.lengths = {size.name, *ends}

    def has(self, buffer: ir.Buffer) -> bool:
        """Whether axis 0 of an array counts rows."""
        return bool(buffer.shape) and buffer.shape[0] == self.size

    def counts(self, *polys: Poly) -> bool:
        """Whether sizes or subscripts depend on the number of rows."""
        return any(self.lengths & names_in(p) for p in polys)

    def item(self, item: object) -> None:
        """One statement of the host."""
        match item:
            case Launch(kernel, alternatives):
                for each in (kernel, *(a.kernel for a in alternatives)):
                    self.kernel(each)
            case ir.Alloc() | ir.Return() | ir.Bind():
                pass
            case HostLoop(lo=lo, hi=hi):
                self._number(ir.Value(lo, INT64), ir.Value(hi, INT64))
            case ir.Let(value=value) | HostIf(cond=value):
                self._number(value)
            case ir.Host(origin=origin):
                raise _Whole(f"line {origin.span.line} runs on the host")
            case _:
                raise _Whole("the host waits for what kernels compute")

    def _number(self, *values: ir.Expr) -> None:
        for e in (x for v in values for x in walk(v)):
            if isinstance(e, ir.Load):
                raise _Whole("the host waits for what kernels compute")
            if self.counts(*polys_of(e)):
                raise _Whole("the host asks how many rows there are")

    def kernel(self, kernel: Kernel) -> None:
        """One kernel: what it touches, and what it computes with."""
        line = f"line {kernel.origin.span.line}"
        parallel = [*kernel.axes, *_parallel(kernel)]
        own = {a.name for a in parallel if a.hi == self.size and a.lo.constant == 0}
        if len(own) > 1:
            raise _Whole(f"{line} pairs rows")
        for a in [*parallel, *_serial(kernel)]:
            depends = names_in(a.lo) | names_in(a.hi)
            if a.name not in own and depends & {*self.lengths, *own}:
                raise _Whole(f"{line} runs over axis 0 in order, or over a part of it")
        for access in _touched(kernel):
            self._access(access, own)
        for e in (x for each in _expressions(kernel) for x in walk(each)):
            if not isinstance(e, (ir.Value, ir.Reduce)):
                continue
            # what numbers are made of from data is walked, too
            named = {n for p in polys_of(e) for n in p.names()}
            if isinstance(e, ir.Reduce) and self.lengths & named:
                raise _Whole(f"{line} folds axis 0")
            if named & {*self.lengths, *own}:
                raise _Whole(f"{line} computes with positions along axis 0, or its length")

    def _access(self, access: Access, own: set[str]) -> None:
        name, index = access.buffer, access.index
        buffer = self.plan.buffers.get(name)
        if buffer is None:
            raise _Whole(f"`{name}` is of a kernel's own")
        if access.write and buffer.parameter:
            raise _Whole(f"it stores into its argument `{name}`")
        in_rows = self.has(buffer)
        if in_rows and index[0].name not in own:
            raise _Whole(f"axis 0 of `{name}` is needed whole")
        if access.write and own and not in_rows:
            raise _Whole(f"all rows store into `{name}`")
        for d, p in enumerate(index[1:] if in_rows else index):
            # what a position is read from is an access of its own
            if p.names() & {*self.lengths, *own}:
                raise _Whole(f"axis {d + in_rows} of `{name}` depends on positions along axis 0")


def _touched(kernel: Kernel) -> Iterator[Access]:
    """All that a kernel reads and stores."""
    yield from accesses(kernel.body)
    for part in kernel.parts:
        if isinstance(part, ir.Stage):
            yield from accesses((part,))
            continue
        for e in part.operands:
            yield from reads(e, frozenset(), part.origin)
        if part.store is not None:
            yield from accesses((part.store,))


def _statements(kernel: Kernel) -> Iterator[ir.Stmt]:
    stages = (p for p in kernel.parts if isinstance(p, ir.Stage))
    stores = (f.store for f in kernel.folds if f.store is not None)
    return statements((*kernel.body, *stages, *stores))


def _expressions(kernel: Kernel) -> Iterator[ir.Expr]:
    """What its threads compute; how far its axes run is no part of that."""
    for s in _statements(kernel):
        yield from expressions(s)
    for f in kernel.folds:
        yield from f.operands


def _parallel(kernel: Kernel) -> Iterator[ir.Axis]:
    """The axes of the stores inside, whose elements do not depend on each other."""
    return (a for s in _statements(kernel) for a in axes_of(s))


def _serial(kernel: Kernel) -> Iterator[ir.Axis]:
    """The loops inside, which run in order."""
    for s in _statements(kernel):
        if isinstance(s, ir.For):
            yield ir.Axis(s.index, s.hi, s.lo)
    yield from _loops(kernel.steps)


def _loops(steps: Sequence[BlockStep]) -> Iterator[ir.Axis]:
    for s in steps:
        if isinstance(s, BlockLoop):
            yield ir.Axis(s.index, s.hi, s.lo)
            yield from _loops(s.steps)
