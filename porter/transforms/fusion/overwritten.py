"""Stores into a part of an array that the next store into it replaces.

`f[:, :, 1] = np.roll(f[:, :, 1], 1, axis=0)`, and then the same along another axis, is one store of
what is rolled twice: no thread needs what the first one stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents, symbols
from porter.ir.context import Context
from porter.ir.effects import defs_in, uses_in
from porter.ir.rebuild import map_blocks
from porter.ir.scalars import cast
from porter.ir.walk import loaded, rewrite, scalars_of, substitute, walk
from porter.sizes.polynomial import Poly

#: what is read at another place than it is stored is not computed more often than this
MOST_READS = 1


def join_overwritten(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: such a store is written out in the one that replaces it."""
    return _block(body, Aliases.of(body, context.buffers))


def _block(body: Sequence[ir.Stmt], aliases: Aliases) -> tuple[ir.Stmt, ...]:
    work = list(body)
    k = 0
    while k < len(work):
        s = work[k]
        if isinstance(s, ir.Write):
            at = next((j for j in range(k + 1, len(work)) if _touches(s, work[j], aliases)), None)
            joined = None if at is None else _joined(s, work[at], aliases)
            if at is not None and joined is not None:
                work[at] = joined
                del work[k]
                continue
        elif not isinstance(s, ir.Stage):
            work[k] = map_blocks(s, lambda b: _block(b, aliases))
        k += 1
    return tuple(s for s in work if not _is_itself(s))


def _touches(s: ir.Write, other: ir.Stmt, aliases: Aliases) -> bool:
    """Whether a statement reads what the store has stored, or stores what the store has read."""
    changed, read = defs_in((other,)), uses_in((other,)).arrays
    if aliases.with_others({s.buffer}) & (changed.arrays | read):
        return True
    sources = aliases.with_others(loaded(s.body))
    return bool(sources & changed.arrays or scalars_of(s.body) & changed.scalars)


def _joined(first: ir.Write, second: ir.Stmt, aliases: Aliases) -> ir.Write | None:
    """The second store with the first one's value in place of what it reads of it."""
    if not isinstance(second, ir.Write) or not (_is_plain(first) and _is_plain(second)):
        return None
    if first.buffer != second.buffer or not same_extents(first.axes, second.axes):
        return None
    names = dict(zip((a.name for a in first.axes), symbols(second.axes), strict=True))
    if substitute(ir.Load(first.buffer, first.index, first.body.dtype), names) != ir.Load(
        second.buffer, second.index, first.body.dtype
    ):
        return None
    others = loaded(second.body) - {first.buffer}
    if any(aliases.given_twice(first.buffer, name) for name in others):
        return None
    along = {n: d for d, p in enumerate(first.index) for n in p.names()}
    if along.keys() != {a.name for a in first.axes} or len(along) != len(first.axes):
        return None
    shape = aliases.buffers[first.buffer].shape
    if any(a.extent != shape[along[a.name]] for a in first.axes):
        return None  # another element along the axis may be one that is not stored
    reads = [e for e in walk(second.body) if isinstance(e, ir.Load) and e.buffer == first.buffer]
    inside = [_is_inside(e.index, first) for e in reads]
    if None in inside or inside.count(True) > MOST_READS or True not in inside:
        return None
    if any(isinstance(e, ir.Reduce) for part in (first, second) for e in walk(part.body)):
        return None
    if all(e.index == second.index for e, own in zip(reads, inside, strict=True) if own):
        return None  # the same thread reads it: a variable will do

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Load) or e.buffer != first.buffer or not _is_inside(e.index, first):
            return None
        places = {name: e.index[d] for name, d in along.items()}
        return cast(substitute(first.body, places), e.dtype)

    return replace(second, body=rewrite(second.body, change))


def _is_plain(s: ir.Write) -> bool:
    """Whether it stores each element of a part: a symbol or a constant along each axis."""
    symbolic = set(symbols(s.axes))
    known = all(p in symbolic or p.constant is not None for p in s.index)
    whole = all(a.lo == Poly() for a in s.axes)
    return known and whole and s.mask is None and s.combine is None and not s.checked


def _is_inside(index: Sequence[Poly], part: ir.Write) -> bool | None:
    """Whether an element is in the part; None where that is not known."""
    for p, own in zip(index, part.index, strict=True):
        if own.constant is not None and p != own:
            return False if p.constant is not None else None
    return True


def _is_itself(s: ir.Stmt) -> bool:
    """Whether a store leaves everything as it is: `x[:] = np.roll(x, 0)`."""
    return isinstance(s, ir.Write) and s.combine is None and not s.checked and (
        s.body == ir.Load(s.buffer, s.index, s.body.dtype)
    )  # fmt: skip
