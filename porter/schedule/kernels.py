"""Stages and reductions become kernels; rows that share their reductions share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses, touched
from porter.analyses.escapes import escaping
from porter.analyses.reductions import cooperative, reductions
from porter.ir.context import Context, map_exprs, rename_axes, same_extents, symbols
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_parts
from porter.ir.walk import host_level, rewrite, statements
from porter.lowering.state.builder import refusal
from porter.schedule.blocks import in_blocks
from porter.schedule.nodes import Fold, HostIf, HostLoop, HostWhile, Kernel, Launch
from porter.schedule.private import private_targets
from porter.sizes.polynomial import Data


class Grouping:
    """Turns one program's statements into host items with launches."""

    def __init__(self, body: tuple[ir.Stmt, ...], context: Context) -> None:
        self.context = context
        self.users: dict[str, int] = {}
        for s in host_level(body):
            for name in touched(s):
                self.users[name] = self.users.get(name, 0) + 1
        self.dropped: set[str] = set()
        binds = [s for s in statements(body) if isinstance(s, ir.Bind)]
        self.bound = {n for s in binds for n in (*s.names, *s.buffers)}
        # unbound behind a loop without iterations, as in Python
        self.bound |= {x.buffer.name for _, x in escaping(body) if isinstance(x, ir.Alloc)}
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
                items.append(Launch(self._map(s)))
            else:
                items += self._hoisted(self._host(s))
        return tuple(
            i for i in items if not (isinstance(i, ir.Alloc) and i.buffer.name in self.dropped)
        )

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
                return HostLoop(s.index, s.lo, s.hi, s.step, self.block(s.body), s.origin)
            case ir.While(cond, body, origin):
                return HostWhile(cond, self.block(body), origin)
            case ir.If(cond, body, orelse, origin):
                return HostIf(cond, self.block(body), self.block(orelse), origin)
        return s

    def name(self, word: str) -> str:
        """A name for a kernel that nothing else has."""
        self.context.taken |= self.context.program.around
        return self.context.fresh(f"{self.context.program.name}_{word}" if word else
                                  f"{self.context.program.name}_kernel")  # fmt: skip

    def _map(self, s: ir.Stage) -> Kernel:
        if any(isinstance(x, Data) for a in s.axes for p in (a.lo, a.hi) for x in p.atoms()):
            raise refusal(
                "PRT906",
                "the size of this array is computed from array elements",
                s.origin.span,
                "use a size that follows from the arguments",
            )
        kind = "private" if s.axes and private_targets(s.body, self.context.buffers) else "map"
        return Kernel(self.name(""), kind, _memory_order(s), s.body, origin=s.origin)

    def _group(self, s: ir.Write, work: list[ir.Stmt]) -> list[object]:
        kind = cooperative(s)
        if kind == "tile":
            fold = self._fold(s)
            return [Launch(Kernel(self.name("tiled"), "tile", s.axes, (), (fold,), s.origin))]
        if kind == "scan":
            fold = self._fold(s)
            return [Launch(Kernel(self.name("scan"), "scan", s.axes, (), (fold,), s.origin))]
        if kind == "rows":
            return self._rows(s, work)
        return self._total(s, work)

    def _fold(self, s: ir.Write) -> Fold:
        """A store of an expression around reductions as local results and a value."""
        found: list[tuple[str, ir.Reduce]] = []

        def change(e: ir.Expr) -> ir.Expr | None:
            if not isinstance(e, ir.Reduce):
                return None
            for name, known in found:
                if known == e:
                    return ir.Local(name, e.dtype)
            name = self.context.fresh(RESULT_NAMES[e.op])
            found.append((name, e))
            return ir.Local(name, e.dtype)

        value = rewrite(s.body, change)
        return Fold(s.buffer, tuple(found), value, s.origin, s)

    # -- totals ------------------------------------------------------------------------

    def _total(self, s: ir.Write, work: list[ir.Stmt]) -> list[object]:
        """Neighbouring totals over one domain share the pass over the data."""
        before: list[object] = []
        steps = [self._fold(s)]
        written = {s.buffer}
        while work:
            nxt = next((k for k, x in enumerate(work) if not isinstance(x, ir.Alloc)), None)
            if nxt is None:
                break
            other = work[nxt]
            if not (isinstance(other, ir.Write) and cooperative(other) == "total"):
                break
            touched = {a.buffer for a in accesses((other,))}
            if touched & written or not self._same_domain(steps[0], self._peek(other)):
                break
            before += work[:nxt]
            del work[: nxt + 1]
            steps.append(self._fold(other))
            written.add(other.buffer)
        kernel = Kernel(self.name("total"), "total", (), (), tuple(steps), s.origin)
        return [*before, Launch(kernel)]

    @staticmethod
    def _peek(s: ir.Write) -> list[ir.Reduce]:
        return reductions(s.body)

    @staticmethod
    def _same_domain(fold: Fold, others: list[ir.Reduce]) -> bool:
        mine = [r for _, r in fold.reductions]
        return all(same_extents(r.axes, mine[0].axes) for r in [*mine, *others])

    # -- rows --------------------------------------------------------------------------

    def _rows(self, s: ir.Write, work: list[ir.Stmt]) -> list[object]:
        before: list[object] = []
        steps: list[Fold | ir.Stage] = [self._fold(s)]
        members: list[ir.Stmt] = [s]
        while True:
            nxt = next((k for k, x in enumerate(work) if not isinstance(x, ir.Alloc)), None)
            if nxt is None:
                break
            step = self._row_step(s.axes, work[nxt], members)
            if step is None:
                break
            before += work[:nxt]
            del work[: nxt + 1]
            steps.append(step[0])
            members.append(step[1])
        kernel = Kernel(self.name("rows"), "rows", s.axes, (), tuple(steps), s.origin)
        return [*before, Launch(self._localised(kernel, members))]

    def _row_step(
        self, rows: Sequence[ir.Axis], s: ir.Stmt, members: list[ir.Stmt]
    ) -> tuple[Fold | ir.Stage, ir.Stmt] | None:
        """The next statement as a step of the row kernel, if it stays within the row."""
        count = len(rows)
        if isinstance(s, ir.Write):
            if cooperative(s) != "rows" or not same_extents(rows, s.axes):
                return None
            moved = self._onto(rows, s)
            if not isinstance(moved, ir.Write) or not self._within(rows, members, moved):
                return None
            return self._fold(moved), moved
        if not isinstance(s, ir.Stage) or len(s.axes) not in (count, count + 1):
            return None
        if not same_extents(rows, s.axes[:count]) or not _simple(s):
            return None
        moved = self._onto(rows, s)
        if not isinstance(moved, ir.Stage) or not self._within(rows, members, moved):
            return None
        return moved, moved

    @staticmethod
    def _onto(rows: Sequence[ir.Axis], s: ir.Write | ir.Stage) -> ir.Stmt:
        axes = s.axes
        values = {
            b.name: symbols([a])[0] - a.lo + b.lo
            for a, b in zip(rows, axes[: len(rows)], strict=True)
        }
        moved = rename_axes(replace(s, axes=()), values)
        assert isinstance(moved, (ir.Write, ir.Stage))
        rest = tuple(
            ir.Axis(a.name, a.hi.replace(values), a.lo.replace(values)) for a in axes[len(rows) :]
        )
        return replace(moved, axes=(*rows, *rest))

    def _within(self, rows: Sequence[ir.Axis], members: list[ir.Stmt], s: ir.Stmt) -> bool:
        """Whether everything that both touch, one of them writing, stays in the row's block."""
        first = [a for m in members for a in accesses((m,))]
        second = list(accesses((s,)))
        related = False
        for x in first:
            for y in second:
                if x.buffer != y.buffer:
                    if (x.write or y.write) and self._both_parameters(x, y):
                        return False
                    continue
                related = True
                if x.write and y.write:
                    return False  # the first result would have to go through memory
                if (x.write or y.write) and not _same_row(rows, x, y):
                    return False
        return related

    def _both_parameters(self, x: Access, y: Access) -> bool:
        buffers = self.context.buffers
        return x.write and buffers[x.buffer].parameter and buffers[y.buffer].parameter

    def _localised(self, kernel: Kernel, members: list[ir.Stmt]) -> Kernel:
        """Row results that only this kernel reads stay in registers."""
        inside: dict[str, int] = {}
        for m in members:
            for name in {a.buffer for a in accesses((m,))}:
                inside[name] = inside.get(name, 0) + 1
        names: dict[str, str] = {}
        stored: set[str] = set()
        elsewhere: set[str] = set()  # read at other places than this kernel stores
        places = {m.buffer: m.index for m in members if isinstance(m, ir.Write)}
        for step in kernel.steps:
            if not isinstance(step, Fold):
                continue
            own = places[step.name]
            if any(
                a.index != own for m in members for a in accesses((m,)) if a.buffer == step.name
            ):
                elsewhere.add(step.name)
            alone = self.users.get(step.name) == inside[step.name] and step.name not in elsewhere
            if alone and not self._parameter(step):
                names[step.name] = step.name
                self.dropped.add(step.name)
            else:
                names[step.name] = self.context.fresh(f"row_{step.name}")
                stored.add(step.name)

        # a step reads what the array held before it: only later ones read its result
        known: dict[str, str] = {}

        def change(e: ir.Expr) -> ir.Expr | None:
            if isinstance(e, ir.Load) and e.buffer in known and e.index == places[e.buffer]:
                return ir.Local(known[e.buffer], e.dtype)
            return None

        steps: list[Fold | ir.Stage] = []
        for step in kernel.parts:
            steps.append(_named(_localise(step, names, stored, change), stored))
            if isinstance(step, Fold):
                known[step.name] = names[step.name]
        return replace(kernel, steps=tuple(steps))

    def _parameter(self, step: Fold) -> bool:
        return self.context.buffers[step.name].parameter


def _named(step: Fold | ir.Stage, stored: set[str]) -> Fold | ir.Stage:
    """A result that is just one fold and stays in the kernel: the fold takes its name."""
    if not isinstance(step, Fold) or step.store is not None or len(step.reductions) != 1:
        return step
    name, r = step.reductions[0]
    if step.value != ir.Local(name, r.dtype) or step.name in stored:
        return step
    return replace(step, reductions=((step.name, r),), value=ir.Local(step.name, r.dtype))


def _localise(
    step: Fold | ir.Stage, names: dict[str, str], stored: set[str], change: object
) -> Fold | ir.Stage:
    def expr(e: ir.Expr) -> ir.Expr:
        return rewrite(e, change)  # type: ignore[arg-type]

    if isinstance(step, ir.Stage):
        body = tuple(map_exprs(s, change) for s in step.body)  # type: ignore[arg-type]
        return replace(step, body=body)
    folded = tuple((n, expr(r)) for n, r in step.reductions)
    return Fold(
        names[step.name],
        tuple((n, r) for n, r in folded if isinstance(r, ir.Reduce)),
        expr(step.value),
        step.origin,
        step.store if step.name in stored else None,
    )


def _memory_order(s: ir.Stage) -> tuple[ir.Axis, ...]:
    """The axes in the order of the subscripts stored to, so that the last runs along memory."""
    stores = [x for x in statements(s.body) if isinstance(x, ir.Write)]
    if not stores:
        return s.axes
    main = max(stores, key=lambda x: len({n for p in x.index for n in p.names()}))
    place = {n: d for d, p in enumerate(main.index) for n in p.names()}
    return tuple(sorted(s.axes, key=lambda a: place.get(a.name, -1)))


def _simple(s: ir.Stage) -> bool:
    """No loops or early exits in it: a plain map."""
    return not any(isinstance(x, (ir.For, ir.While, ir.Def, ir.Return)) for x in statements(s.body))


def _same_row(rows: Sequence[ir.Axis], x: Access, y: Access) -> bool:
    for axis in rows:
        dims = range(min(len(x.index), len(y.index)))
        if not any(x.index[d].name == axis.name == y.index[d].name for d in dims):
            return False
    return True


def group(body: tuple[ir.Stmt, ...], context: Context) -> tuple[object, ...]:
    """The last pass: host items with launches."""
    grouping = Grouping(body, context)
    return in_blocks(grouping.items, grouping.name)


__all__ = ["group", "map_parts"]
