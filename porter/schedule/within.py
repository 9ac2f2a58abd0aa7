"""Statements that share a launch because they stay within its rows, or its columns.

Results that nothing else reads stay in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import Access, accesses
from porter.ir.aliasing import Aliases
from porter.ir.axes import symbols
from porter.ir.effects import uses_in
from porter.ir.rebuild import map_exprs, rename_axes
from porter.ir.walk import rewrite, scalars_of, statements
from porter.schedule.base import Around, Fold, Kernel

Step = Fold | ir.Stage


def onto_rows(rows: Sequence[ir.Axis], s: ir.Write | ir.Stage) -> ir.Write | ir.Stage:
    """The statement over the kernel's own rows."""
    axes = s.axes
    values = {
        b.name: symbols([a])[0] - a.lo + b.lo for a, b in zip(rows, axes[: len(rows)], strict=True)
    }
    moved = rename_axes(replace(s, axes=()), values)
    assert isinstance(moved, (ir.Write, ir.Stage))
    rest = tuple(
        ir.Axis(a.name, a.hi.replace(values), a.lo.replace(values)) for a in axes[len(rows) :]
    )
    return replace(moved, axes=(*rows, *rest))


def members(kernel: Kernel) -> list[ir.Write | ir.Stage]:
    """The statements that the steps came from."""
    steps = (s.store if isinstance(s, Fold) else s for s in kernel.parts)
    return [s for s in steps if s is not None]


def within(kernel: Kernel, s: ir.Stmt, aliases: Aliases) -> bool:
    """Whether everything that both touch, one of them writing, stays in the row's block."""
    related = False
    for x in accesses(members(kernel)):
        for y in accesses((s,)):
            if x.buffer != y.buffer:
                if (x.write or y.write) and aliases.meet(x.buffer, y.buffer):
                    return False
                if x.write and aliases.arguments(x.buffer) and aliases.arguments(y.buffer):
                    return False
                continue
            related = True
            if x.write and y.write:
                return False  # the first result would have to go through memory
            if (x.write or y.write) and not same_row(kernel.axes, x, y):
                return False
    return related


def localised(kernel: Kernel, around: Around, word: str) -> Kernel:
    """The kernel with results that only it reads in registers, and with those that it stores in
    variables of this word, too."""
    own_statements = members(kernel)
    inside = Counter(name for m in own_statements for name in {a.buffer for a in accesses((m,))})
    names: dict[str, str] = {}
    stored: set[str] = set()
    places = {m.buffer: m.index for m in own_statements if isinstance(m, ir.Write)}
    for name in (f.name for f in kernel.folds):
        own = places[name]
        # read at other places than this kernel stores
        elsewhere = any(a.buffer == name and a.index != own for a in accesses(own_statements))
        alone = around.users.get(name) == inside[name] and not elsewhere
        if alone and not around.context.buffers[name].parameter:
            names[name] = name
            around.dropped.add(name)
        else:
            names[name] = around.context.fresh(f"{word}_{name}")
            stored.add(name)

    # a step reads what the array held before it: only later ones read its result
    known: dict[str, str] = {}

    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer in known and e.index == places[e.buffer]:
            return ir.Local(known[e.buffer], e.dtype)
        return None

    steps: list[Step] = []
    for step in kernel.parts:
        steps.append(with_its_name(_localise(step, names, stored, change), stored))
        if isinstance(step, Fold):
            known[step.name] = names[step.name]
    return replace(kernel, steps=tuple(steps))


def with_its_name(step: Step, stored: Collection[str] = ()) -> Step:
    """A result that is just one fold and stays in the kernel: the fold takes its name."""
    if not isinstance(step, Fold) or step.store is not None or len(step.reductions) != 1:
        return step
    name, r = step.reductions[0]
    if step.value != ir.Local(name, r.dtype) or step.name in stored:
        return step
    return replace(step, reductions=((step.name, r),), value=ir.Local(step.name, r.dtype))


def _localise(
    step: Step, names: dict[str, str], stored: set[str], change: Callable[[ir.Expr], ir.Expr | None]
) -> Step:
    def expr(e: ir.Expr) -> ir.Expr:
        return rewrite(e, change)

    if isinstance(step, ir.Stage):
        body = tuple(map_exprs(s, change) for s in step.body)
        return replace(step, body=body)
    folded = tuple((n, expr(r)) for n, r in step.reductions)
    return Fold(
        names[step.name],
        tuple((n, r) for n, r in folded if isinstance(r, ir.Reduce)),
        expr(step.value),
        step.origin,
        step.store if step.name in stored else None,
    )


def is_simple(s: ir.Stage) -> bool:
    """No loops or early exits in it: a plain map."""
    return not any(isinstance(x, (ir.For, ir.While, ir.Def, ir.Return)) for x in statements(s.body))


def same_row(rows: Sequence[ir.Axis], x: Access, y: Access) -> bool:
    """Whether both are the same along each of the axes of rows."""
    for axis in rows:
        dims = range(min(len(x.index), len(y.index)))
        if not any(x.index[d].name == axis.name == y.index[d].name for d in dims):
            return False
    return True


def reads(steps: Sequence[Step], name: str) -> bool:
    """Whether one of the steps uses the local variable."""
    for step in steps:
        if isinstance(step, ir.Stage):
            found = uses_in(step.body).scalars
        else:
            found = frozenset[str]().union(*map(scalars_of, step.operands))
        if name in found:
            return True
    return False


def in_one_thread(steps: Sequence[Step], *, folding: bool = True) -> Iterator[ir.Stmt]:
    """The steps as statements of a thread that has the whole element; without `folding`, what
    the folds reduce is known."""
    known: set[str] = set()
    for number, step in enumerate(steps):
        if isinstance(step, ir.Stage):
            yield from step.body
            continue
        for name, r in step.reductions if folding else ():
            if name not in known:
                yield ir.Let(name, r, step.origin)
        known |= {name for name, _ in step.reductions}
        value = step.value
        named = step.store is None or reads(steps[number + 1 :], step.name)
        if named and value != ir.Local(step.name, value.dtype):
            yield ir.Let(step.name, value, step.origin)
            value = ir.Local(step.name, value.dtype)
        if step.store is not None:
            yield replace(step.store, axes=(), body=value)
