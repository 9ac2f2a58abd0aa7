"""Arrays that an iteration makes, written out where its thread reads them.

A thread has no arrays of a size that is known only at run time, but it needs none for `d` in
`d = x[i] - x[j]` and `r = np.sqrt(d @ d)`: an array is a function of its indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from porter import ir
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents, symbols
from porter.ir.context import Context
from porter.ir.effects import axes_of, defs_in, expressions, indices
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_blocks, map_exprs, rename_arrays
from porter.ir.walk import blocks, free_names, loaded, scalars_of, statements, walk
from porter.ir.weights import weight
from porter.transforms.arrays.materialise import inlined

Element = TypeVar("Element", ir.Def, ir.Write)

#: additions that an element may cost at all its reads, and where an inner loop repeats it
MOST, MOST_REPEATED = 64, 16


def written_out(body: Sequence[ir.Stmt], context: Context) -> tuple[ir.Stmt, ...]:
    """The body of a loop with its arrays put in place of their reads, where legal and cheap."""
    if not any(isinstance(s, ir.Def) for s in statements(tuple(body))):
        return tuple(body)
    return _block(tuple(body), context, Aliases.of(context.program.body, context.buffers))


def _block(body: tuple[ir.Stmt, ...], context: Context, aliases: Aliases) -> tuple[ir.Stmt, ...]:
    work = list(body)
    k = 0
    while k < len(work):
        s, rest = work[k], work[k + 1 :]
        if isinstance(s, ir.Def) and s.name not in context.here.used_later:
            work[k + 1 :] = rest = _renewed(s, rest, context)
            before, s = sums_apart(s, context)
            if _legal(s, rest, aliases) and _cheap(s, rest):
                work[k:] = [*before, *(inlined(r, s) for r in rest)]
                k += len(before)
                continue
        else:
            work[k] = map_blocks(s, lambda b: _block(b, context, aliases))
        k += 1
    return tuple(work)


def _renewed(s: ir.Def, rest: Sequence[ir.Stmt], context: Context) -> list[ir.Stmt]:
    """A store into all of the array, such as `d -= c`, as an array of its own."""
    for k, r in enumerate(rest):
        if s.name not in defs_in((r,)).arrays:
            continue
        if not isinstance(r, ir.Write) or r.index != symbols(r.axes) or r.combine is not None:
            break
        if not same_extents(s.axes, r.axes) or r.mask is not None:
            break
        buffer = context.buffer(s.name, r.axes, s.dtype)
        made = ir.Def(buffer.name, r.axes, s.dtype, r.body, r.origin)
        return [*rest[:k], made, *(rename_arrays(x, {s.name: buffer.name}) for x in rest[k + 1 :])]
    return list(rest)


def sums_apart(s: Element, context: Context) -> tuple[list[ir.Let], Element]:
    """The reductions that are the same for all elements as variables, and what is left."""
    own = {a.name for a in s.axes}
    bound = indices(s)
    before: list[ir.Let] = []
    known: dict[ir.Expr, ir.Local] = {}

    def change(e: ir.Expr) -> ir.Expr | None:
        if not isinstance(e, ir.Reduce) or free_names(e) & bound:
            return None
        if e not in known:
            known[e] = ir.Local(context.fresh(RESULT_NAMES[e.op]), replace(e.dtype, weak=False))
            before.append(ir.Let(known[e].name, e, s.origin))
        return known[e]

    new = map_exprs(s, change) if own else s
    return before, new


def _legal(s: ir.Def, rest: Sequence[ir.Stmt], aliases: Aliases) -> bool:
    """Whether nothing that the definition reads changes before it is read for the last time."""
    if any(isinstance(e, ir.Reduce) for e in walk(s.body)) or s.name in defs_in(rest).arrays:
        return False
    sources = aliases.with_others(loaded(s.body), arguments=True)
    scalars = scalars_of(s.body)
    changed: set[str] = set()
    for r in rest:
        written = aliases.with_others(defs_in((r,)).arrays, arguments=True)
        written |= defs_in((r,)).scalars
        if any(True for _ in _uses((r,), s.name, ())):
            # an array statement reads all before it stores; what has blocks goes back and forth,
            # and where threads meet in an element they would read what others have stored
            at_once = isinstance(r, ir.Write) and r.combine is None
            if changed & (sources | scalars) or (not at_once and written & (sources | scalars)):
                return False
        changed |= written
    return True


def _cheap(s: ir.Def, rest: Sequence[ir.Stmt]) -> bool:
    """Whether computing the elements at each of their reads is worth it."""
    cost, total = weight(s.body), 0
    for load, around in _uses(rest, s.name, ()):
        total += cost
        if around - free_names(load) and cost > MOST_REPEATED:
            return False
    return total <= MOST


def _uses(
    body: Sequence[ir.Stmt], name: str, loops: tuple[str, ...]
) -> Iterator[tuple[ir.Load, set[str]]]:
    """The loads of an array, with the indices that run in the loops around each."""
    for s in body:
        own = {*loops, *(a.name for a in axes_of(s))}
        for e in expressions(s):
            bound = {a.name for r in walk(e) if isinstance(r, ir.Reduce) for a in r.axes}
            yield from ((x, own | bound) for x in walk(e)
                        if isinstance(x, ir.Load) and x.buffer == name)  # fmt: skip
        inner = (*loops, s.index) if isinstance(s, ir.For) else loops
        for block in blocks(s):
            yield from _uses(block, name, inner)
