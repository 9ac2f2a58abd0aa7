"""Loops over time whose turns are stencils: blocks do several turns in a tile of shared memory.

A turn that stores each element as a function of its neighbours reads and stores whole arrays: it is
bound by memory, or by its launches where arrays are small.  Launches of tiles do some turns each,
from one array to another and back.  What is left of the loop follows as it stands, at least as many
turns as bring all arrays back into their places: it leaves what only one turn needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from porter import ir
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import WEAK_BOOL, WEAK_INT, DType
from porter.ir.aliasing import Aliases
from porter.ir.context import Context
from porter.ir.effects import nodes_of
from porter.ir.rebuild import rename_arrays, rename_axes
from porter.ir.walk import statements
from porter.schedule.base import Kernel
from porter.schedule.nodes import HostIf, HostLoop, Launch, with_loops
from porter.schedule.registry import TIME_TILE
from porter.schedule.schedules.time_tile import HALO, reach, turns, writes
from porter.schedule.turns.replays import Replay, replay
from porter.sizes.polynomial import Integer, Poly, maximum, minimum, sym

#: the most steps of a turn, and how far all of them may reach
MOST_STEPS, MOST_REACH = 4, 4
#: bytes of an element of all arrays that are in tiles, so that a block has room for them
ROOM = {1: 64, 2: 16}


def in_tiles(
    items: Sequence[object], name: Callable[[str], str], context: Context, aliases: Aliases
) -> tuple[object, ...]:
    """The host's sequence, with turns in tiles before each such loop."""
    return with_loops(items, lambda loop: _tiled(loop, name, context, aliases))


def _tiled(
    loop: HostLoop, name: Callable[[str], str], context: Context, aliases: Aliases
) -> Sequence[object]:
    """Launches of tiles and then the loop, if its turns are such steps."""
    found = replay(loop)
    if found is None or not _in_order(loop.body):
        return ()
    steps = _steps(loop, found, context, aliases)
    if not steps:
        return ()
    kept = _kept(steps)
    names = list(dict.fromkeys([*kept, *(w.buffer for s in steps for w in writes(s))]))
    if not kept or not _alone(names, kept, steps, aliases) or not _fit(names, kept, steps, context):
        return ()
    distance = sum(reach(s, names) for s in steps)
    if not 0 < distance <= MOST_REACH:
        return ()
    axes = tuple(ir.Axis(a.name, n) for a, n in zip(steps[0].axes, context.buffers[kept[0]].shape,
                                                    strict=True))  # fmt: skip
    index = tuple(sym(a.name, True) for a in axes)
    spare = [context.buffer(f"{n}_later", axes, context.buffers[n].dtype) for n in kept]
    stores = tuple(
        ir.Write(new.name, (), index, ir.Load(n, index, context.buffers[n].dtype), loop.origin)
        for n, new in zip(kept, spare, strict=True)
    )
    kernel = Kernel(
        name(TIME_TILE.word), TIME_TILE, axes, stores, tuple(steps), loop.origin, repeated=True
    )
    others = tuple(b.name for b in spare)
    back = ir.Bind((*kept, *others), (*others, *kept), loop.origin)
    launches = context.fresh("launches")
    each = found.period * turns(kernel)
    pairs = maximum((loop.hi - loop.lo - found.settled - found.period) // (2 * each), 0)
    value = Poly.atom(Integer(launches, True))
    cond = ir.Op("gt", (ir.Value(value, WEAK_INT), ir.Const(0, WEAK_INT)), WEAK_BOOL)
    allocated = tuple(ir.Alloc(b, loop.origin) for b in spare)
    tiled = HostLoop(context.fresh("turn"), Poly(), value, 1, (Launch(kernel), back), loop.origin)
    # turns that only the first ones are like
    first = [replace(loop, hi=loop.lo + found.settled)] if found.settled else []
    done = value * each + minimum(value, found.settled)
    return (
        ir.Let(launches, ir.Value(2 * pairs, WEAK_INT), ir.Origin()),
        HostIf(cond, (*first, *allocated, tiled), (), loop.origin),
        replace(loop, lo=loop.lo + done),
    )


def _in_order(body: Sequence[object]) -> bool:
    """Whether arrays change places after all launches."""
    kinds = [isinstance(item, ir.Bind) for item in body]
    return kinds == sorted(kinds)


def _steps(loop: HostLoop, found: Replay, context: Context, aliases: Aliases) -> list[ir.Stage]:
    """The launches of the turns until all arrays are back, over the elements that they store."""
    kernels = [item.kernel for item in loop.body
               if isinstance(item, Launch) and not item.alternatives]  # fmt: skip
    launches = [item for item in loop.body if isinstance(item, Launch)]
    ranks = {len(k.axes) for k in kernels}
    if len(kernels) < len(launches) or len(kernels) * found.period > MOST_STEPS:
        return []
    if len(ranks) != 1 or not ranks <= HALO.keys():
        return []
    axes, _ = context.fresh_axes(kernels[0].axes)
    index = [a.name for a in axes]
    turns = _turns(found, aliases)
    changed = {turn.get(n, n) for k in kernels for n in _stored(k) for turn in turns}
    steps: list[ir.Stage] = []
    for turn in turns:
        for kernel in kernels:
            stage = _step(kernel, turn, index, changed)
            if stage is None:
                return []
            steps.append(stage)
    return steps


def _turns(found: Replay, aliases: Aliases) -> list[dict[str, str]]:
    """The turns once they repeat: the array that each name has, as a name that has it in the first
    of them; one that never means an argument, if there is one."""
    first, *others = found.turns[found.settled :]
    last = sorted(first.items(), key=lambda x: (-len(aliases.arguments(x[0])), x[0]))
    names = {array: name for name, array in last}
    return [{n: names[array] for n, array in turn.items()} for turn in (first, *others)]


def _stored(kernel: Kernel) -> set[str]:
    return {s.buffer for s in statements(kernel.body) if isinstance(s, ir.Write)}


def _step(
    kernel: Kernel, arrays: Mapping[str, str], index: Sequence[str], changed: Collection[str]
) -> ir.Stage | None:
    """A launch as a step, its arrays those of one turn; None where elements need more."""
    if kernel.schedule.together or kernel.steps or kernel.draws:
        return None
    inside = list(statements(kernel.body))
    places = {s.index for s in inside if isinstance(s, ir.Write)}
    if len(places) != 1 or not all(isinstance(s, (ir.Let, ir.Write, ir.If)) for s in inside):
        return None
    (place,) = places
    own = [sym(a.name, True) for a in kernel.axes]
    if len(place) != len(own):
        return None
    moves = [p - x for p, x in zip(place, own, strict=True)]
    if any(m.constant is None for m in moves):
        return None
    values = {a.name: sym(n, True) - m for a, n, m in zip(kernel.axes, index, moves, strict=True)}
    axes = tuple(ir.Axis(n, a.hi + m, a.lo + m)
                 for n, a, m in zip(index, kernel.axes, moves, strict=True))  # fmt: skip
    body = tuple(rename_arrays(rename_axes(s, values), arrays) for s in kernel.body)
    if not all(_is_plain(s, axes, changed) for s in statements(body)):
        return None
    return ir.Stage(axes, body, kernel.origin)


def _is_plain(s: ir.Stmt, axes: Sequence[ir.Axis], changed: Collection[str]) -> bool:
    """Whether a statement stores one element, made of neighbours in arrays that turns change."""
    if isinstance(s, ir.Write) and (s.axes or s.mask or s.combine or s.checked or s.origin.late):
        return False
    for e in nodes_of(s):
        if isinstance(e, (ir.Reduce, ir.Draw, ir.Scan)):
            return False
        if isinstance(e, ir.Load):
            if has_data(e.index):
                return False
            near = len(e.index) == len(axes) and all(
                (p - sym(a.name, True)).constant is not None
                for p, a in zip(e.index, axes, strict=True)
            )
            if e.buffer in changed and not near:
                return False
    return True


def _kept(steps: Sequence[ir.Stage]) -> list[str]:
    """The arrays of which a turn needs what the one before has stored: the others are stored
    before they are read, always the same elements."""
    kept: list[str] = []
    domains: dict[str, set[tuple[ir.Axis, ...]]] = {}
    for step in steps:
        for w in writes(step):
            domains.setdefault(w.buffer, set()).add(step.axes)
    done: set[str] = set()
    for step in steps:
        own = {w.buffer for w in writes(step)}
        kept += [n for n in sorted(_read(step)) if n in domains and n not in done]
        kept += sorted(own - done - _surely_stored(step.body))
        done |= _read(step) | own
    kept += [n for n, found in domains.items() if len(found) > 1]
    return list(dict.fromkeys(kept))


def _read(step: ir.Stage) -> set[str]:
    loads = (e for s in statements(step.body) for e in nodes_of(s) if isinstance(e, ir.Load))
    return {e.buffer for e in loads}


def _surely_stored(body: Sequence[ir.Stmt]) -> set[str]:
    """The arrays that statements store into whatever branch is taken."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, ir.Write):
            found.add(s.buffer)
        elif isinstance(s, ir.If):
            found |= _surely_stored(s.body) & _surely_stored(s.orelse)
    return found


def _alone(
    names: Sequence[str], kept: Sequence[str], steps: Sequence[ir.Stage], aliases: Aliases
) -> bool:
    """Whether no array is another one; one that is stored first may be the one that is kept, if
    all steps store the same elements: these are the same then."""
    one_domain = len({s.axes for s in steps}) == 1
    read = {n for step in steps for n in _read(step)}
    pairs = [*combinations(names, 2), *((n, r) for n in names for r in sorted(read - {*names}))]
    for a, b in pairs:
        if aliases.meet(a, b):
            return False
        mine, others = aliases.arguments(a), aliases.arguments(b)
        if mine & others or any(aliases.given_twice(p, q) for p in mine for q in others):
            harmless = one_domain and len(names) == 2 and b in names and len(kept) == 1
            if mine & others or not harmless:
                return False
    return True


def _fit(
    names: Sequence[str], kept: Sequence[str], steps: Sequence[ir.Stage], context: Context
) -> bool:
    """Whether a block has room for the arrays, and those that are kept have one shape."""
    rank = len(steps[0].axes)
    buffers = [context.buffers[n] for n in names]
    if any(len(b.shape) != rank or b.draws for b in buffers):
        return False
    sizes = sum(_itemsize(b.dtype) for b in buffers)
    return sizes <= ROOM[rank] and len({context.buffers[n].shape for n in kept}) == 1


def _itemsize(dtype: DType) -> int:
    return 8 if dtype.var is not None else dtype.itemsize
