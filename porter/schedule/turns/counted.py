"""Loops of the host whose launches need the number of the turn: the device counts the turns.

A graph replays launches with the same arguments.  So the number is an element in the device's
memory: kernels read it there, and the last launch of each turn adds one to it.  Where a launch is
over other elements in each turn, its grid is that of all turns, and its threads ask whether they
take part.

What is computed of the number (`2**k`, `np.sin(k * dt)`) stays Python's, on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import INT64
from porter.ir.axes import within
from porter.ir.context import Context
from porter.ir.effects import defs_in
from porter.ir.walk import scalars_of, walk
from porter.schedule.base import Kernel
from porter.schedule.nodes import HostLoop, Launch, with_loops
from porter.schedule.registry import chosen
from porter.schedule.turns.replays import needs, replay, sizes_of
from porter.sizes.bounds import Ranges, least, most
from porter.sizes.polynomial import Apply, Poly


def counted(
    items: Sequence[object], name: Callable[[str], str], context: Context
) -> tuple[object, ...]:
    """The host's sequence, with such loops as a graph can replay them."""
    return with_loops(items, lambda loop: _counted(loop, name, context))


def _counted(loop: HostLoop, name: Callable[[str], str], context: Context) -> Sequence[object]:
    """The number of the turn, and the loop that counts it; nothing for other loops."""
    if loop.step != 1 or replay(loop) is not None:
        return ()
    ranges = {loop.index: (loop.lo, loop.hi)}
    body: list[object] = []
    for item in loop.body:
        kernel = _for_all(item.kernel, ranges) if isinstance(item, Launch) else None
        if isinstance(item, Launch):
            if kernel is None or item.alternatives:
                return ()
            turn = loop.index if loop.index in needs(kernel) else ""
            item = Launch(replace(kernel, turn=turn))
        body.append(item)
    if replay(replace(loop, body=tuple(body))) is None:
        return ()
    number = context.buffer("step", (), INT64)
    place = ir.Load(number.name, (), INT64)
    first = _once(number, ir.Value(loop.lo, INT64), name, context)
    after = ir.Op("add", (place, ir.Value(Poly.of(1), INT64)), INT64)
    body = [
        replace(x, kernel=replace(x.kernel, number=number.name))
        if isinstance(x, Launch) and x.kernel.turn else x
        for x in body
    ]  # fmt: skip
    body.append(_once(number, after, name, context, repeated=True))
    return (ir.Alloc(number, ir.Origin()), first, replace(loop, body=tuple(body)))


def _for_all(kernel: Kernel, ranges: Ranges) -> Kernel | None:
    """The kernel with one grid for all turns; None where that is not known."""
    if kernel.draws or len(kernel.schedule.launches(kernel)) != 1:
        return None
    if any(_on_host(e, ranges.keys(), kernel) for e in kernel.expressions()):
        return None
    if not sizes_of(kernel) & ranges.keys() and not any(
        p.names() & ranges.keys() for a in kernel.axes for p in (a.lo, a.hi)
    ):
        return kernel
    if kernel.schedule.together or kernel.steps:
        return None
    ends = [(least(a.lo, ranges), most(a.hi, ranges)) for a in kernel.axes]
    axes = tuple(
        ir.Axis(a.name, hi, lo) for a, (lo, hi) in zip(kernel.axes, ends, strict=True)
        if lo is not None and hi is not None
    )  # fmt: skip
    if len(axes) < len(kernel.axes):
        return None
    inside = within(kernel.axes, axes)
    if inside is None:
        return None
    return replace(kernel, axes=axes, body=(ir.If(inside, kernel.body, (), kernel.origin),))


def _on_host(whole: ir.Expr, turn: Set[str], kernel: Kernel) -> bool:
    """Whether an expression has a part that the host computes of the number of the turn."""
    own = {a.name for a in kernel.axes} | defs_in(kernel.statements).scalars
    for e in walk(whole):
        names = scalars_of(e)
        if not names & turn or names & own:
            continue
        applied = e.poly.atoms() if isinstance(e, ir.Value) else ()
        if any(isinstance(a, Apply) and a.op not in ("min", "max") for a in applied):
            return True
        inside = any(isinstance(x, (ir.Load, ir.Reduce)) for x in walk(e))
        if isinstance(e, ir.Op) and e.dtype.kind != "b" and not inside:
            return True
    return False


def _once(
    number: ir.Buffer, value: ir.Expr, name: Callable[[str], str], context: Context,
    *, repeated: bool = False,
) -> Launch:  # fmt: skip
    """A launch of one thread, which stores the number of the turn."""
    origin = ir.Origin(text="the number of the turn")
    stage = ir.Stage((), (ir.Write(number.name, (), (), value, origin),), origin)
    schedule = chosen(stage, context)
    word = "next_step" if repeated else "first_step"
    return Launch(Kernel(name(word), schedule, (), stage.body, (), origin, repeated))
