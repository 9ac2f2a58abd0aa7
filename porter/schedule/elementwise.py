"""Whether a function is purely elementwise: then its arrays may have any number of dimensions."""

from __future__ import annotations

from collections.abc import Set

from porter import ir
from porter.analyses.accesses import accesses
from porter.ir.axes import symbols
from porter.ir.effects import expressions
from porter.ir.walk import statements, walk
from porter.schedule.base import Kernel
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch, Plan, items_of
from porter.schedule.schedules.elementwise import Elementwise


def is_elementwise(plan: Plan) -> bool:
    """Every array is 1-D, of one size, and touched only at the thread's own index."""
    arrays = [p for p in plan.parameters if p.ndim is not None]
    if not arrays or plan.indexed or any(p.ndim != 1 for p in arrays):
        return False
    if any(c.kind != "broadcast" for c in plan.checks):
        return False
    sizes = {plan.buffers[p.name].shape for p in arrays}
    if len(sizes) != 1:
        return False
    size = next(iter(sizes))
    items = [*items_of(plan.items)]
    numbers = {i.kernel.number for i in items if isinstance(i, Launch) and i.kernel.number}
    for item in items:
        if _counts_turns(item, numbers):
            continue
        if isinstance(item, (ir.Host, ir.Fetch)):
            return False
        if isinstance(item, ir.Bind) and any(plan.buffers[b].parameter for b in item.buffers):
            return False
        if isinstance(item, ir.Alloc) and item.buffer.shape != size:
            return False
        if isinstance(item, Launch) and not _own_index(item.kernel, size):
            return False
        if isinstance(item, ir.Return) and (
            item.squeezed or any(isinstance(v, ir.Load) for v in item.values)
        ):
            return False
        if _uses_sizes(item):
            return False
    return True


def _counts_turns(item: object, numbers: Set[str]) -> bool:
    """Whether an item is about the number of a turn in memory alone."""
    if isinstance(item, ir.Alloc):
        return item.buffer.name in numbers
    if not isinstance(item, Launch) or item.kernel.parts:
        return False
    return not {a.buffer for a in accesses(item.kernel.body)} - numbers


def _own_index(kernel: Kernel, size: tuple[object, ...]) -> bool:
    if not isinstance(kernel.schedule, Elementwise) or len(kernel.axes) != 1:
        return False
    axis: ir.Axis = kernel.axes[0]
    if (axis.extent,) != size or axis.lo.terms:
        return False
    if any(a.index != symbols(kernel.axes) for a in accesses(kernel.body)):
        return False
    position = {axis.name}
    return not any(
        _reads_size(e, position) for s in statements(kernel.body) for e in expressions(s)
    )


def _reads_size(e: ir.Expr, position: Set[str] = frozenset()) -> bool:
    """Whether an expression depends on the size of an array, on these indices or a fold's."""
    parts = list(walk(e))
    axes = [a for x in parts if isinstance(x, ir.Reduce) for a in x.axes]
    values = [x.poly for x in parts if isinstance(x, ir.Value)]
    values += [p for a in axes for p in (a.lo, a.hi)]
    indices = position | {a.name for a in axes}
    return any(p.dims() or p.names() & indices for p in values)


def _uses_sizes(item: object) -> bool:
    if isinstance(item, HostLoop):
        return bool(item.lo.dims() | item.hi.dims())
    if isinstance(item, (HostIf, HostWhile)):
        return _reads_size(item.cond)
    value = getattr(item, "value", None)
    return value is not None and not isinstance(value, str) and _reads_size(value)
