"""Neighbouring stages over one domain are one stage where no element crosses threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from porter import ir
from porter.analyses.accesses import Access, accesses, in_own_line, never_meet
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents, symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars, uses_in
from porter.ir.ops import UPDATES
from porter.ir.rebuild import map_blocks, rename_axes
from porter.ir.walk import jumps
from porter.transforms.fusion.apart import makes_room, passes

Body = tuple[ir.Stmt, ...]
#: how many elements of its own a thread takes in turn
MOST_TURNS = 9


def join_neighbours(body: Body, context: Context) -> Body:
    """Neighbours over one domain share a kernel."""
    aliases = Aliases.of(body, context.buffers)
    return with_neighbours(body, lambda a, b: joined(a, b, aliases))


def join_short_axes(body: Body, context: Context) -> Body:
    """A neighbour with a short axis more runs along it in its threads, where the other one stores
    what it reads: the nine directions of a cell after the sum over them."""
    aliases = Aliases.of(body, context.buffers)

    def join(a: ir.Stage, b: ir.Stage) -> ir.Stage | None:
        short = min(len(a.axes), len(b.axes))
        if not short or len(a.axes) == len(b.axes):
            return None
        if not defs_in(a.body).arrays & uses_in(b.body).arrays:
            return None
        one, other = (_along(s, short) for s in (a, b))
        return one and other and joined(one, other, aliases)

    return with_neighbours(body, join)


def _along(s: ir.Stage, ndim: int) -> ir.Stage | None:
    """A stage over its first axes alone, with loops along the others if these are short."""
    turns, inner = 1, s.body
    for axis in reversed(s.axes[ndim:]):
        extent = axis.extent.constant
        turns *= extent or MOST_TURNS + 1
        inner = (ir.For(axis.name, axis.lo, axis.hi, 1, inner, s.origin),)
    return replace(s, axes=s.axes[:ndim], body=inner) if turns <= MOST_TURNS else None


def join_apart(body: Body, context: Context) -> Body:
    """A stage moves up to one over its domain where nothing that it passes needs the one or stores
    into the other: zeros for a second histogram are stored with those for the first one."""
    aliases = Aliases.of(body, context.buffers)

    def moved(body: Body) -> Body:
        done: list[ir.Stmt] = []
        for s in body:
            if not isinstance(s, ir.Stage):
                done.append(map_blocks(s, moved))
                continue
            at, both = _partner(s, done, aliases)
            if both is None:
                done.append(s)
            else:
                own = [x for x in done[at:] if makes_room(x, s)]
                done[at:] = [*own, both, *(x for x in done[at + 1 :] if x not in own)]
        return tuple(done)

    return moved(body)


def _partner(
    s: ir.Stage, before: Sequence[ir.Stmt], aliases: Aliases
) -> tuple[int, ir.Stage | None]:
    """The earlier stage that a stage can join, by its place, and what they are together."""
    for k, other in reversed([*enumerate(before)]):
        both = joined(other, s, aliases) if isinstance(other, ir.Stage) else None
        if both is not None or not (makes_room(other, s) or passes(s, other, aliases)):
            return k, both
    return len(before), None


#: what two stages are together, or what each of them is after all
Together = ir.Stage | tuple[ir.Stage, ir.Stage] | None


def with_neighbours(body: Body, join: Callable[[ir.Stage, ir.Stage], Together]) -> Body:
    """The statements with neighbouring stages joined where `join` gives what they are together.

    Allocations between two stages come before both, or stay between them.
    """
    result: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Stage):
            at = next(
                (k for k, x in reversed([*enumerate(result)]) if not isinstance(x, ir.Alloc)), -1
            )
            before = result[at] if at >= 0 else None
            both = join(before, s) if isinstance(before, ir.Stage) else None
            if isinstance(both, tuple):
                result[at], s = both
            elif both is not None:
                del result[at]
                s = both
        else:
            s = map_blocks(s, lambda b: with_neighbours(b, join))
        result.append(s)
    return tuple(result)


def aligned_to(first: Sequence[ir.Axis], s: ir.Stage) -> ir.Stage:
    """The stage over the other's indices (the extents are equal)."""
    moved = {b.name: symbols([a])[0] - a.lo + b.lo for a, b in zip(first, s.axes, strict=True)}
    body = tuple(rename_axes(x, moved) for x in s.body)
    return ir.Stage(tuple(first), body, s.origin)


def joined(a: ir.Stage, b: ir.Stage, aliases: Aliases) -> ir.Stage | None:
    """What two stages over one domain are together; None where an element crosses threads."""
    if jumps(a.body):
        return None  # its `continue` would skip the second stage's statements
    if not same_extents(a.axes, b.axes):
        return None
    if a.axes:  # one thread alone runs both in turn
        b = aligned_to(a.axes, b)
        mine, theirs = list(accesses(a.body)), list(accesses(b.body))
        if not _independent(a.axes, mine, theirs) or _may_meet(a.axes, mine, theirs, aliases):
            return None
    if defs_in(a.body).scalars & exposed_scalars(b.body):
        return None
    return ir.Stage(a.axes, (*a.body, *b.body), a.origin)


def _independent(axes: Sequence[ir.Axis], first: list[Access], second: list[Access]) -> bool:
    """Whether what the second touches of the first's results is at the thread's own element."""
    known: dict[str, list[Access]] = {}
    for x in first:
        known.setdefault(x.buffer, []).append(x)
    for y in second:
        for x in known.get(y.buffer, ()):
            if x.combine in UPDATES and x.combine == y.combine:
                continue
            if (x.write or y.write) and not never_meet(x, y):
                if not (x.index == y.index and _owns(axes, x)) and not in_own_line(axes, (x, y)):
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
    aliases: Aliases,
) -> bool:
    """Arrays by two names: variables of the host, or two arguments that may be one array."""
    paired = set().union(*aliases.pairs)
    for x, y in product(
        [x for x in first if x.buffer in paired or aliases.buffers[x.buffer].parameter],
        [y for y in second if y.buffer in paired or aliases.buffers[y.buffer].parameter],
    ):
        if x.buffer == y.buffer or not (x.write or y.write):
            continue
        if aliases.meet(x.buffer, y.buffer):
            return True
        if aliases.buffers[x.buffer].parameter and aliases.buffers[y.buffer].parameter:
            if not aliases.alike(x.buffer, y.buffer):
                continue
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
