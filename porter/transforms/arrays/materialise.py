"""What is stored, and what is computed again where it is read.

A definition is put in place of its reads when that is legal (nothing it reads changes in
between) and cheap; otherwise it becomes an array of its own: an allocation and a store.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.analyses.reductions import has_data
from porter.analyses.scans import runs_along
from porter.ir.aliasing import Aliases
from porter.ir.axes import same_extents, symbols
from porter.ir.context import Context
from porter.ir.effects import axes_of, defs, defs_in, expressions, uses, uses_in
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import (
    free_names,
    host_level,
    loaded,
    remembered,
    scalars_of,
    statements,
    substitute,
    walk,
)
from porter.ir.weights import is_trivial, weight
from porter.sizes.polynomial import wrapped

#: recomputing at several places is worth this many additions in all
BUDGET = 64
#: with re-use along other axes, only very cheap expressions are recomputed
REUSE_BUDGET = 4
#: what the host does with arrays by their names
_BY_NAME = (ir.Fetch, ir.Return, ir.Bind, ir.Host, ir.While, ir.If)


def materialise(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: definitions are inlined or stored."""
    mutable = _stored_for_good(body)
    return _block(body, context, mutable, set(), Aliases.of(body, context.buffers), False)


def _stored_for_good(body: tuple[ir.Stmt, ...]) -> set[str]:
    """Arrays that the host handles by name, or that later statements store into."""
    found = {s.buffer for s in statements(body) if isinstance(s, ir.Write)}
    for s in host_level(body):
        if isinstance(s, _BY_NAME):
            found |= uses(s).arrays | defs(s).arrays
    return found


def _block(
    body: tuple[ir.Stmt, ...],
    context: Context,
    mutable: set[str],
    later: set[str],
    aliases: Aliases,
    again: bool,
) -> tuple[ir.Stmt, ...]:
    """A block that runs `again` in a loop around it: what reads an array of the turn before."""
    work = list(body)
    k = 0
    known: dict[int, bool] = {}
    while k < len(work):
        s = work[k]
        before = uses_in(work[:k]).arrays if again else frozenset[str]()
        if isinstance(s, ir.Def):
            rest, kept = work[k + 1 :], mutable | later | before
            if s.name not in uses_in(rest).arrays | kept:
                del work[k]
                continue
            may = s.name not in kept and _inlinable(s, rest, kept, aliases, known)
            late = _late_reads(s, rest, aliases) if may else set[tuple[str, str]]()
            # in a loop no call is refused for it, and no array is copied that has a copy
            if may and not (again and (late - context.no_alias or _meets_itself(s, rest))):
                known = {}
                context.no_alias |= late
                work[k:] = [inlined(r, s) if s.name in uses_in((r,)).arrays else r for r in rest]
                continue
            work[k : k + 1] = _stored(s, context)
            k += 2
            continue
        if not isinstance(s, ir.Stage):
            outer = later | before | uses(s).arrays | uses_in(work[k + 1 :]).arrays
            inside = again or isinstance(s, (ir.For, ir.While))
            work[k] = map_blocks(
                s,
                lambda b, o=outer, i=inside: _block(b, context, mutable, o, aliases, i),  # type: ignore[misc]
            )
        k += 1
    return tuple(work)


def _meets_itself(s: ir.Def, rest: Sequence[ir.Stmt]) -> bool:
    """Whether a store would read elsewhere what it stores: `u[1:-1] = un[2:]` of a copy of u."""
    writes = (r for r in rest if isinstance(r, ir.Write) and reads_of(r, s.name))
    return any(r.buffer in loaded(s.body) for r in writes)


def _stored(s: ir.Def, context: Context) -> list[ir.Stmt]:
    buffer = context.buffers[s.name]
    write = ir.Write(s.name, s.axes, symbols(s.axes), s.body, s.origin)
    return [ir.Alloc(buffer, s.origin), write]


def _inlinable(
    s: ir.Def,
    rest: Sequence[ir.Stmt],
    mutable: set[str],
    aliases: Aliases,
    known: dict[int, bool],
) -> bool:
    """Whether a definition may be written out where it is read.

    `known` are the answers for definitions further down, by the number of statements after
    them: each asks for those below it, which without it takes twice as long for every one more.
    """
    if len(rest) not in known:
        known[len(rest)] = _is_inlinable(s, rest, mutable, aliases, known)
    return known[len(rest)]


def _is_inlinable(
    s: ir.Def, rest: Sequence[ir.Stmt], mutable: set[str], aliases: Aliases, known: dict[int, bool]
) -> bool:
    if any(isinstance(e, ir.Reduce) for e in walk(s.body)):
        return _epilogue(s, rest)
    if is_trivial(s.body):
        return True
    if _named_local(s, rest, mutable, aliases, known):
        return False
    # what the sources are made of changes too where another name for them is stored into
    sources = aliases.with_others(loaded(s.body))
    needed = sources | scalars_of(s.body)
    changed: set[str] = set()
    total = 0
    for r in rest:
        uses = [a for x in _nested(r) for a in reads_of(x, s.name)]
        if uses:
            nested = not isinstance(r, (ir.Def, ir.Write, ir.Stage))
            if isinstance(r, ir.Write) and r.combine is not None and r.buffer in sources:
                return False  # threads that meet in an element would read what others have stored
            # a single array statement reads before it writes: its own target may be a source
            written = frozenset() if isinstance(r, ir.Write) else defs_in((r,)).arrays
            if changed & needed or nested or written & sources:
                return False
            total += sum(_cost(s, r, u) for u in uses)
        changed |= defs_in((r,)).arrays | defs_in((r,)).scalars
    return total <= BUDGET


def _late_reads(s: ir.Def, rest: Sequence[ir.Stmt], aliases: Aliases) -> set[tuple[str, str]]:
    """(written, read) arguments that must not be one array, for the definition is read too late."""
    sources = aliases.with_others(loaded(s.body))
    changed: set[str] = set()
    found: set[tuple[str, str]] = set()
    for r in rest:
        if any(reads_of(x, s.name) for x in _nested(r)):
            written = changed if isinstance(r, ir.Write) else changed | defs_in((r,)).arrays
            found |= {(w, q) for w in written for q in sources if aliases.given_twice(w, q)}
        changed |= aliases.with_others(defs_in((r,)).arrays)
    return found


def _epilogue(s: ir.Def, rest: Sequence[ir.Stmt]) -> bool:
    """Whether a reduction is read once, at the reader's own index, right after it."""
    if sum(len(reads_of(x, s.name)) for r in rest for x in _nested(r)) != 1:
        return False
    first = next((r for r in rest if not isinstance(r, ir.Alloc)), None)
    if (
        not isinstance(first, (ir.Def, ir.Write))
        or not s.axes
        or not same_extents(s.axes, first.axes)
    ):
        return False
    if runs_along(s.body, s.axes) and not _scannable(s, first):
        return False
    return any(
        load.index == symbols(first.axes)
        and not any(isinstance(e, ir.Reduce) for e in walk(inside))
        for load, inside in reads_of(first, s.name)
    )


def _scannable(s: ir.Def, reader: ir.Def | ir.Write) -> bool:
    """Whether a running fold stays one in its reader: nothing else there needs a loop or a test."""
    if any(isinstance(e, ir.Reduce) for e in walk(reader.body)):
        return False
    if isinstance(reader, ir.Def):
        return True
    plain = reader.index == symbols(reader.axes) or not has_data(reader.index)
    return plain and reader.mask is None and not reader.checked


def _named_local(
    s: ir.Def, rest: Sequence[ir.Stmt], mutable: set[str], aliases: Aliases, known: dict[int, bool]
) -> bool:
    """Whether all reads are at the reader's own index, close by: it will be a local scalar."""
    left = sum(len(reads_of(x, s.name)) for r in rest if s.name in uses_in((r,)).arrays
               for x in _nested(r))  # fmt: skip
    for k, r in enumerate(rest):
        if not left:
            return True
        if isinstance(r, ir.Alloc):
            continue
        if isinstance(r, ir.Def) and r.name not in mutable:
            if _inlinable(r, rest[k + 1 :], mutable, aliases, known):
                return False
        if not isinstance(r, (ir.Def, ir.Write)) or not same_extents(s.axes, r.axes):
            return False
        for load, inside in reads_of(r, s.name):
            if load.index != symbols(r.axes) or any(isinstance(e, ir.Reduce) for e in walk(inside)):
                return False
            left -= 1
    return not left


@remembered
def _nested(s: ir.Stmt) -> list[ir.Stmt]:
    return list(statements((s,)))


def reads_of(s: ir.Stmt, name: str) -> list[tuple[ir.Load, ir.Expr]]:
    """The loads of one array in a statement, with the expression they stand in."""
    return _loads(s).get(name, [])


@remembered
def _loads(s: ir.Stmt) -> dict[str, list[tuple[ir.Load, ir.Expr]]]:
    found: dict[str, list[tuple[ir.Load, ir.Expr]]] = {}
    for e in expressions(s):
        for x in walk(e):
            if isinstance(x, ir.Load):
                found.setdefault(x.buffer, []).append((x, e))
    return found


def _cost(s: ir.Def, consumer: ir.Stmt, use: tuple[ir.Load, ir.Expr]) -> int:
    """What recomputing at one read costs; out of the question where it would be repeated."""
    load, inside = use
    domain = {a.name for a in axes_of(consumer)}
    bound = {
        a.name
        for r in walk(inside)
        if isinstance(r, ir.Reduce) and _contains(r, load)
        for a in r.axes
    }
    needed = free_names(load)
    heavy = weight(s.body)
    repeated = bool((domain | bound) - needed) and not _row_reuse(domain, bound, needed)
    if isinstance(consumer, ir.Stage) and any(
        isinstance(x, (ir.For, ir.While)) for x in consumer.body
    ):
        repeated = True
    if repeated and heavy > REUSE_BUDGET:
        return BUDGET + 1
    return heavy


def _row_reuse(domain: set[str], bound: set[str], needed: set[str]) -> bool:
    """Read along the reduced axis of the same row: computed once for each element anyway."""
    return bool(bound) and (domain | bound) == needed


def _contains(r: ir.Reduce, load: ir.Load) -> bool:
    return any(x is load for x in walk(r))


def inlined(consumer: ir.Stmt, s: ir.Def) -> ir.Stmt:
    """A statement, with what a definition says in place of its reads."""

    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer == s.name:
            # without the array, nothing but the index itself can tell that it is out of bounds
            names = {a.name: wrapped(i, a.hi) for a, i in zip(s.axes, e.index, strict=True)}
            return substitute(s.body, names)
        return None

    return map_exprs(consumer, change)
