"""Stages and reductions become kernels; rows that share their reductions share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import users_of
from porter.analyses.escapes import escaping
from porter.diagnostics import refusal
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.walk import statements
from porter.schedule.base import Alternative, Around, Kernel, Schedule
from porter.schedule.nodes import HostIf, HostLoop, HostWhile, Launch
from porter.schedule.registry import ONE_BLOCK, chosen
from porter.schedule.turns.alone import or_alone
from porter.schedule.turns.blocks import in_blocks
from porter.schedule.turns.counted import counted
from porter.schedule.turns.tiles import in_tiles
from porter.sizes.polynomial import Data


class Grouping:
    """Turns one program's statements into host items with launches."""

    def __init__(self, body: tuple[ir.Stmt, ...], context: Context) -> None:
        self.context = context
        self.around = Around(context, users_of(body), Aliases.of(body, context.buffers))
        binds = [s for s in statements(body) if isinstance(s, ir.Bind)]
        self.bound = {n for s in binds for n in (*s.names, *s.buffers)}
        # unbound after a loop without iterations, as in Python
        self.bound |= {x.buffer.name for _, x in escaping(body) if isinstance(x, ir.Alloc)}
        self.depth = 0  # loops of the host around the statement at hand
        self.items = self.block(body)

    def block(self, body: Sequence[ir.Stmt]) -> tuple[object, ...]:
        """One statement list; allocations come before the group that they stand in."""
        items: list[object] = []
        work = list(body)
        while work:
            s = work.pop(0)
            if isinstance(s, ir.Write):
                items += self._group(s, work)
            elif isinstance(s, ir.Stage):
                items += self._staged(s, work)
            else:
                items += self._hoisted(self._host(s))
        dropped = self.around.dropped
        return tuple(i for i in items if not (isinstance(i, ir.Alloc) and i.buffer.name in dropped))

    def _hoisted(self, item: object) -> list[object]:
        """Buffers that no name is moved to are allocated once, before their loop."""
        if not isinstance(item, (HostLoop, HostWhile)):
            return [item]
        fixed = [i for i in item.body if isinstance(i, ir.Alloc) and self._is_fixed(i, item)]
        body = tuple(i for i in item.body if i not in fixed)
        return [*fixed, replace(item, body=body)]

    def _is_fixed(self, a: ir.Alloc, loop: HostLoop | HostWhile) -> bool:
        inside = {s.name for s in loop.body if isinstance(s, (ir.Let, ir.Fetch))}
        inside |= {loop.index} if isinstance(loop, HostLoop) else set()
        return a.buffer.name not in self.bound and not any(
            p.names() & inside for p in a.buffer.shape
        )

    def _host(self, s: ir.Stmt) -> object:
        match s:
            case ir.For():
                return HostLoop(s.index, s.lo, s.hi, s.step, self._again(s.body), s.origin)
            case ir.While(cond, body, origin):
                return HostWhile(cond, self._again(body), origin)
            case ir.If(cond, body, orelse, origin):
                return HostIf(cond, self.block(body), self.block(orelse), origin)
        return s

    def _again(self, body: Sequence[ir.Stmt]) -> tuple[object, ...]:
        """The statements of a loop."""
        self.depth += 1
        items = self.block(body)
        self.depth -= 1
        return items

    def name(self, word: str) -> str:
        """A name for a kernel that nothing else has."""
        self.context.taken |= self.context.program.around
        return self.context.fresh(f"{self.context.program.name}_{word}" if word else
                                  f"{self.context.program.name}_kernel")  # fmt: skip

    def _stage(self, s: ir.Stage) -> Kernel:
        if any(isinstance(x, Data) for a in s.axes for p in (a.lo, a.hi) for x in p.atoms()):
            raise refusal(
                "PRT906",
                "the size of this array is computed from array elements",
                s.origin.span,
                "use a size that follows from the arguments",
            )
        schedule = chosen(s, self.context)
        name = self.name(schedule.word)
        repeated = self.depth > 0
        return Kernel(name, schedule, _memory_order(s), s.body, (), s.origin, repeated)

    def _staged(self, stage: ir.Stage, work: list[ir.Stmt]) -> list[object]:
        """The launch of a stage, or of the store after it that takes it in."""
        k, s = next(((k, s) for k, s in enumerate(work) if not isinstance(s, ir.Alloc)), (0, None))
        if isinstance(s, ir.Write) and isinstance(s.schedule, Schedule):
            first = s.schedule.precedes(stage, s, self.around)
            if first is not None:
                allocated = work[:k]
                del work[: k + 1]
                return [*allocated, *self._group(s, work, first)]
        return [self._launch(self._stage(stage))]

    def _group(
        self, s: ir.Write, work: list[ir.Stmt], first: ir.Stage | None = None
    ) -> list[object]:
        """The launch of a store, with the statements after it that may join it, and what comes
        `first` in it."""
        schedule = s.schedule
        assert isinstance(schedule, Schedule)
        kernel = schedule.start(s, self.around)
        if first is not None:
            kernel = replace(kernel, steps=(first, *kernel.steps), origin=first.origin)
        before: list[object] = []
        while any(not isinstance(x, ir.Alloc) for x in work):
            k = next(k for k, x in enumerate(work) if not isinstance(x, ir.Alloc))
            longer = schedule.absorb(kernel, work[k], self.around)
            if longer is None:
                break
            kernel = longer
            before += work[:k]
            del work[: k + 1]
        kernel = replace(kernel, name=self.name(schedule.word), repeated=self.depth > 0)
        kernel = schedule.finish(kernel, self.around)
        return [*before, self._launch(kernel)]

    def _launch(self, kernel: Kernel) -> Launch:
        """With the kernels for other shapes."""
        others = kernel.schedule.alternatives(kernel, self.around)
        return Launch(kernel, tuple(map(self._named, others)))

    def _named(self, other: Alternative) -> Alternative:
        name = self.name(other.kernel.schedule.word)
        return replace(other, kernel=replace(other.kernel, name=name))


def _memory_order(s: ir.Stage) -> tuple[ir.Axis, ...]:
    """The axes in the order of the subscripts stored to, so that the last runs along memory."""
    stores = [x for x in statements(s.body) if isinstance(x, ir.Write)]
    if not stores:
        return s.axes
    main = max(stores, key=lambda x: len({n for p in x.index for n in p.names()}))
    place = {n: d for d, p in enumerate(main.index) for n in p.names()}
    return tuple(sorted(s.axes, key=lambda a: place.get(a.name, -1)))


def group(body: tuple[ir.Stmt, ...], context: Context) -> tuple[object, ...]:
    """The last pass: host items with launches."""
    grouping = Grouping(body, context)
    if context.schedules and ONE_BLOCK not in context.schedules:
        return grouping.items
    items = in_blocks(grouping.items, grouping.name, grouping.bound)
    items = or_alone(items, grouping.name, grouping.bound, grouping.around.aliases)
    items = in_tiles(items, grouping.name, context, grouping.around.aliases)
    return counted(items, grouping.name, context)
