"""Neighbouring stages over one domain share a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from porter import ir
from porter.analyses.accesses import Access, accesses, exposed_locals, touched, used_locals
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.aliasing import Aliases
from porter.ir.context import (
    Context,
    is_trivial,
    map_blocks,
    map_exprs,
    rename_axes,
    same_extents,
    symbols,
)
from porter.ir.ops import UPDATES
from porter.ir.walk import host_level, own_level, remembered, statements, walk
from porter.sizes.polynomial import Poly


def merge_fills(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """`out = zeros(...)` followed by `out[1:-1] = ...` is one stage with a branch."""
    return _merge_fills(body, context, Aliases.of(body, context.buffers))


def _merge_fills(
    body: tuple[ir.Stmt, ...], context: Context, aliases: Aliases
) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    for s in body:
        last = next((k for k in range(len(result) - 1, -1, -1)
                     if not isinstance(result[k], ir.Alloc)), None)  # fmt: skip
        fill = result[last] if last is not None else None
        if isinstance(s, ir.Stage) and isinstance(fill, ir.Stage) and last is not None:
            merged = _filled(fill, s, context, aliases)
            if merged is not None:
                del result[last]
                s = merged
        result.append(
            s
            if isinstance(s, ir.Stage)
            else map_blocks(s, lambda b: _merge_fills(b, context, aliases))
        )
    return tuple(result)


def _filled(
    fill: ir.Stage, region: ir.Stage, context: Context, aliases: Aliases
) -> ir.Stage | None:
    """The fill's stage with the region's statements where the region is."""
    whole = fill.body[0] if len(fill.body) == 1 else None
    if not isinstance(whole, ir.Write) or whole.checked or whole.combine:
        return None
    if whole.index != symbols(fill.axes) or len(region.axes) != len(fill.axes):
        return None
    if not is_trivial(whole.body) and not isinstance(whole.body, ir.Load):
        return None
    found = list(accesses(region.body))
    places = {a.index for a in found if a.buffer == whole.buffer}
    stored = any(isinstance(s, ir.Write) and s.buffer == whole.buffer for s in region.body)
    if not stored or any(isinstance(s, ir.Jump) for s in own_level(region.body)):
        return None  # where the region leaves an element out, the fill must stay
    own = {e.buffer for e in walk(whole.body) if isinstance(e, ir.Load)}
    if len(places) != 1 or any(a.write and a.buffer in own for a in found):
        return None
    if any(a.buffer == whole.buffer and not a.write for a in found):
        return None
    if _read_by_another_name(found, whole.buffer, context, aliases):
        return None
    if tuple(a.extent for a in fill.axes) != context.buffers[whole.buffer].shape:
        return None
    at: dict[str, Poly] = {}
    tests: list[ir.Expr] = []
    for outer, axis, index in zip(fill.axes, region.axes, next(iter(places)), strict=True):
        shift = index - symbols([axis])[0]
        if shift.names() & {a.name for a in region.axes}:
            return None
        at[axis.name] = symbols([outer])[0] - shift
        tests += _inside(outer, axis.lo + shift, axis.hi + shift)
    inner = tuple(rename_axes(s, at) for s in region.body)
    if any(
        a.write and a.buffer == whole.buffer and a.index != whole.index for a in accesses(inner)
    ):
        return None
    if not tests:
        return None
    cond = tests[0]
    for t in tests[1:]:
        cond = ir.Op("and", (cond, t), BOOL)
    branch = ir.If(cond, inner, (whole,), region.origin)
    return ir.Stage(fill.axes, (branch,), region.origin)


def _inside(whole: ir.Axis, lo: Poly, hi: Poly) -> list[ir.Expr]:
    i = ir.Value(symbols([whole])[0], INT64)
    tests: list[ir.Expr] = []
    if lo != whole.lo:
        tests.append(ir.Op("ge", (i, ir.Value(lo, INT64)), BOOL))
    if hi != whole.hi:
        tests.append(ir.Op("lt", (i, ir.Value(hi, INT64)), BOOL))
    if len(tests) == 2:
        return [ir.Op("and", (tests[0], tests[1]), BOOL)]
    return tests


# -- fusion ----------------------------------------------------------------------------------


def fuse(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """Neighbours over one domain share a kernel when no element crosses threads."""
    return _fuse(body, context, Aliases.of(body, context.buffers))


def _fuse(body: tuple[ir.Stmt, ...], context: Context, aliases: Aliases) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    for s in body:
        if not isinstance(s, ir.Stage):
            s = map_blocks(s, lambda b: _fuse(b, context, aliases))
        last = next((k for k in range(len(result) - 1, -1, -1)
                     if not isinstance(result[k], ir.Alloc)), None)  # fmt: skip
        before = result[last] if last is not None else None
        if isinstance(s, ir.Stage) and isinstance(before, ir.Stage) and last is not None:
            joined = _joined(before, s, context, aliases)
            if joined is not None:
                del result[last]
                result.append(joined)
                continue
        result.append(s)
    return tuple(result)


def aligned_to(first: Sequence[ir.Axis], s: ir.Stage) -> ir.Stage:
    """The stage over the other's indices (the extents are equal)."""
    moved = {b.name: symbols([a])[0] - a.lo + b.lo for a, b in zip(first, s.axes, strict=True)}
    body = tuple(rename_axes(x, moved) for x in s.body)
    return ir.Stage(tuple(first), body, s.origin)


def _joined(a: ir.Stage, b: ir.Stage, context: Context, aliases: Aliases) -> ir.Stage | None:
    if any(isinstance(x, ir.Jump) for x in own_level(a.body)):
        return None  # its `continue` would skip the second stage's statements
    if not a.axes and not b.axes:
        return _one_thread(a, b)
    if not a.axes or not same_extents(a.axes, b.axes):
        return None
    b = aligned_to(a.axes, b)
    mine, theirs = list(accesses(a.body)), list(accesses(b.body))
    if not _independent(a.axes, mine, theirs) or _may_meet(a.axes, mine, theirs, context, aliases):
        return None
    if {x.name for x in statements(a.body) if isinstance(x, ir.Let)} & exposed_locals(b.body):
        return None
    return ir.Stage(a.axes, (*a.body, *b.body), a.origin)


def _one_thread(a: ir.Stage, b: ir.Stage) -> ir.Stage | None:
    """Two stages of one thread each: it runs them in turn."""
    if {x.name for x in statements(a.body) if isinstance(x, ir.Let)} & exposed_locals(b.body):
        return None
    return ir.Stage((), (*a.body, *b.body), a.origin)


def _independent(axes: Sequence[ir.Axis], first: list[Access], second: list[Access]) -> bool:
    """Whether what the second touches of the first's results is at the thread's own element."""
    known: dict[str, list[Access]] = {}
    for x in first:
        known.setdefault(x.buffer, []).append(x)
    for y in second:
        for x in known.get(y.buffer, ()):
            if x.combine in UPDATES and x.combine == y.combine:
                continue
            if x.write or y.write:
                if x.index != y.index or not _owns(axes, x):
                    return False
    return True


def _owns(axes: Sequence[ir.Axis], access: Access) -> bool:
    """Whether the subscript differs between any two threads of the domain."""
    bare = {p.name for p in access.index}
    return all(a.name in bare or _unit(access, a) for a in axes)


def _unit(access: Access, axis: ir.Axis) -> bool:
    others = access.variant
    return any(
        p.coefficient(axis.name) in (1, -1) and not ((p.names() - {axis.name}) & others)
        for p in access.index
    )


def _are_own(axes: Sequence[ir.Axis], touched: Sequence[Access]) -> bool:
    """Whether every thread reads and stores one element, which no other thread does."""
    return len({a.index for a in touched}) == 1 and _owns(axes, touched[0])


def _may_meet(
    axes: Sequence[ir.Axis],
    first: list[Access],
    second: list[Access],
    context: Context,
    aliases: Aliases,
) -> bool:
    """Arrays by two names: variables of the host, or two arguments that may be one array."""
    paired = set().union(*aliases.pairs)
    for x, y in product(
        [x for x in first if x.buffer in paired or context.buffers[x.buffer].parameter],
        [y for y in second if y.buffer in paired or context.buffers[y.buffer].parameter],
    ):
        if x.buffer == y.buffer or not (x.write or y.write):
            continue
        if aliases.meet(x.buffer, y.buffer):
            return True
        if context.buffers[x.buffer].parameter and context.buffers[y.buffer].parameter:
            both = [a for a in (*first, *second) if a.buffer in (x.buffer, y.buffer)]
            if x.origin.late or y.origin.late or not _are_own(axes, both):
                return True
            continue
        # a copy of the second argument would be older than what the first statement stored
        touched = [a for a in first if a.buffer == y.buffer]
        if not x.write or all(a.index == x.index for a in (y, *touched)):
            continue
        if aliases.arguments(x.buffer) and aliases.arguments(y.buffer):
            return True
    return False


def _read_by_another_name(
    found: Sequence[Access], name: str, context: Context, aliases: Aliases
) -> bool:
    """Whether an array is read as what may be the same: two arguments may be one array."""
    ndim = len(context.buffers[name].shape)
    others = {a.buffer for a in found if not a.write and len(a.index) == ndim} - {name}
    return any(
        aliases.meet(n, name) or (aliases.arguments(n) and aliases.arguments(name)) for n in others
    )


# -- loops around one stage ----------------------------------------------------------------------


def sink_loops(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """A host loop around one stage moves into the thread when no data crosses threads."""
    result: list[ir.Stmt] = []
    for k, s in enumerate(body):
        if isinstance(s, ir.Stage):
            result.append(s)
            continue
        s = map_blocks(s, lambda b: sink_loops(b, context))
        if isinstance(s, ir.For):
            after = used_locals(body[k + 1 :])
            s = _sunk(s, after) or s
        result.append(s)
    return tuple(result)


def _sunk(loop: ir.For, after: set[str]) -> ir.Stage | None:
    stages = [s for s in loop.body if isinstance(s, ir.Stage)]
    lets = [s for s in loop.body if isinstance(s, ir.Let)]
    if len(stages) != 1 or len(lets) + 1 != len(loop.body) or not stages[0].axes:
        return None
    stage = stages[0]
    names = {loop.index} | {s.name for s in lets}
    if any((a.hi.names() | a.lo.names()) & names for a in stage.axes):
        return None
    if names & after or exposed_locals(loop.body) & {s.name for s in lets}:
        return None
    if loop.body[-1] is not stage or not _pinned(stage):
        return None
    inner = ir.For(loop.index, loop.lo, loop.hi, loop.step, (*lets, *stage.body), loop.origin)
    return ir.Stage(stage.axes, (inner,), loop.origin)


def _pinned(stage: ir.Stage) -> bool:
    """Whether each array that is written is touched by each thread only in its own part."""
    found = list(accesses(stage.body))
    for name in {a.buffer for a in found if a.write}:
        places = [a.index for a in found if a.buffer == name]
        for axis in stage.axes:
            dims = range(len(places[0]))
            if not any(all(p[d].name == axis.name for p in places) for d in dims):
                return False
    return True


# -- scalars instead of arrays ---------------------------------------------------------------------


def privatise(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """An array that one kernel writes and reads only at its own index is a local variable."""
    users: dict[str, int] = {}
    for s in host_level(body):
        for name in touched(s):
            users[name] = users.get(name, 0) + 1
    return _privatise(body, context, users)


def _privatise(
    body: tuple[ir.Stmt, ...], context: Context, users: dict[str, int]
) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    gone: set[str] = set()
    for s in body:
        if isinstance(s, ir.Stage):
            found: dict[str, list[Access]] = {}
            for a in accesses(s.body):
                found.setdefault(a.buffer, []).append(a)
            for name, own in found.items():
                buffer = context.buffers[name]
                if buffer.parameter or users[name] != 1 or not _private(s, name, own):
                    continue
                s = replace(s, body=_as_local(s.body, name))
                gone.add(name)
            result.append(s)
        else:
            result.append(map_blocks(s, lambda b: _privatise(b, context, users)))
    return tuple(s for s in result if not (isinstance(s, ir.Alloc) and s.buffer.name in gone))


def _private(stage: ir.Stage, name: str, found: list[Access]) -> bool:
    places = {a.index for a in found if a.buffer == name}
    if len(places) != 1 or not any(a.buffer == name and a.write for a in found):
        return False
    if any(a.buffer == name and a.combine for a in found):
        return False
    index = next(iter(places))
    if not all(_picks(index, a) for a in stage.axes):
        return False
    first = next(s for s in _scope(stage.body, name) if _touches(s, name))
    return _surely_writes(first, name)


def _picks(index: tuple[Poly, ...], axis: ir.Axis) -> bool:
    return any(p.coefficient(axis.name) in (1, -1) for p in index)


def _touches(s: ir.Stmt, name: str) -> bool:
    return name in _names_of(s)


@remembered
def _names_of(s: ir.Stmt) -> frozenset[str]:
    return frozenset(a.buffer for a in accesses((s,)))


def _scope(body: Sequence[ir.Stmt], name: str) -> Sequence[ir.Stmt]:
    """The innermost branch that holds all accesses to an array."""
    touching = [s for s in body if _touches(s, name)]
    if len(touching) == 1 and isinstance(touching[0], ir.If):
        branches = [touching[0].body, touching[0].orelse]
        used = [block for block in branches if any(_touches(s, name) for s in block)]
        if len(used) == 1:
            return _scope(used[0], name)
    return body


def _surely_writes(s: ir.Stmt, name: str) -> bool:
    if isinstance(s, ir.Write):
        reads = any(isinstance(e, ir.Load) and e.buffer == name for e in walk(s.body))
        return s.buffer == name and not reads
    if isinstance(s, ir.If) and s.orelse:
        return all(any(_surely_writes(x, name) for x in block[:1]) for block in (s.body, s.orelse))
    return False


def _as_local(body: tuple[ir.Stmt, ...], name: str) -> tuple[ir.Stmt, ...]:
    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(name, e.dtype) if isinstance(e, ir.Load) and e.buffer == name else None

    def convert(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer == name:
            changed = map_exprs(s, change)
            assert isinstance(changed, ir.Write)
            return ir.Let(name, changed.body, s.origin)
        s = map_blocks(s, lambda b: tuple(convert(x) for x in b))
        return map_exprs(s, change)

    return tuple(convert(s) if _touches(s, name) else s for s in body)


def drop_dead_stores(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """A store that the same thread overwrites unread is dropped (`y = zeros(n)` before a loop)."""
    return _drop_dead_stores(body, context, Aliases.of(body, context.buffers))


def _drop_dead_stores(
    body: tuple[ir.Stmt, ...], context: Context, aliases: Aliases
) -> tuple[ir.Stmt, ...]:
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Stage):
            after = [s.body[k + 1 :] for k in range(len(s.body))]
            kept = (x for x, rest in zip(s.body, after, strict=True)
                    if not _overwritten(x, rest, context, aliases))  # fmt: skip
            s = replace(s, body=tuple(kept))
        else:
            s = map_blocks(s, lambda b: _drop_dead_stores(b, context, aliases))
        result.append(s)
    return tuple(result)


def _overwritten(s: ir.Stmt, rest: Sequence[ir.Stmt], context: Context, aliases: Aliases) -> bool:
    if not isinstance(s, ir.Write) or s.checked:
        return False
    may_be_other = context.buffers[s.buffer].parameter or any(s.buffer in p for p in aliases.pairs)
    for r in rest:
        # one inside of a loop only leaves that loop
        if any(isinstance(x, ir.Jump) for x in own_level((r,))):
            return False
        found = list(accesses((r,)))
        if may_be_other and _read_by_another_name(found, s.buffer, context, aliases):
            return False
        touching = [a for a in found if a.buffer == s.buffer]
        if not touching:
            continue
        return (
            isinstance(r, ir.Write)
            and touching[0].write
            and r.index == s.index
            and len(touching) == 1
        )
    return False
