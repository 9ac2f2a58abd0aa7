"""Which elements statements read and write, and whether iterations can run in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.dtypes.dtype import INT64
from porter.ir.ops import UPDATES
from porter.ir.walk import blocks, data_of, loaded, remembered, statements, walk
from porter.sizes.polynomial import Data, Poly


@dataclass(frozen=True)
class Access:
    """One read or write of `buffer[index]`; `variant` are the inner indices in scope."""

    buffer: str
    index: tuple[Poly, ...]
    write: bool
    variant: frozenset[str]
    origin: ir.Origin
    combine: str | None = None


def expressions(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of one statement, nested statements left out."""
    match stmt:
        case ir.Def(body=body, axes=axes):
            yield from _bounds(axes)
            yield body
        case ir.Write(body=body, index=index, mask=mask, axes=axes):
            yield from _bounds(axes)
            for p in index:
                yield from data_of(p)
            yield body
            if mask is not None:
                yield mask
        case ir.Let(value=value):
            yield value
        case ir.Fetch(buffer=name):
            yield ir.Load(name, (), INT64)
        case ir.Stage(axes=axes):
            yield from _bounds(axes)
        case ir.For(lo=lo, hi=hi):
            yield from (ir.Value(p, INT64) for p in (lo, hi))
        case ir.While(cond=cond) | ir.If(cond=cond):
            yield cond
        case ir.Host(values=values):
            yield from (e for _, e in values)
        case ir.Return(values=values):
            yield from (v for v in values if v is not None and not isinstance(v, str))


def _bounds(axes: Sequence[ir.Axis]) -> Iterator[ir.Expr]:
    for a in axes:
        for p in (a.lo, a.hi):
            yield from data_of(p)


def accesses(body: Sequence[ir.Stmt], variant: frozenset[str] = frozenset()) -> Iterator[Access]:
    """Every access of the statements, nested ones included."""
    lets: set[str] | None = None
    for stmt in body:
        inside = blocks(stmt)
        if not inside and not variant:
            yield from _of_one(stmt)
            continue
        own = variant | {a.name for a in getattr(stmt, "axes", ())}
        if isinstance(stmt, ir.Let):
            own = own | {stmt.name}
        if isinstance(stmt, ir.Write):
            access = Access(stmt.buffer, stmt.index, True, own, stmt.origin, stmt.combine)
            yield access
            if stmt.combine in UPDATES:
                yield replace(access, write=False)
        for e in expressions(stmt):
            yield from reads(e, own, stmt.origin)
        if inside and lets is None:
            lets = assigned_locals(body)
        inner = variant | {stmt.index} if isinstance(stmt, ir.For) else variant
        for block in inside:
            yield from accesses(block, inner | own | (lets or set()))


@remembered
def _of_one(stmt: ir.Stmt) -> tuple[Access, ...]:
    """The accesses of a statement that has no others inside."""
    variant = {a.name for a in getattr(stmt, "axes", ())}
    own = frozenset(variant | {stmt.name} if isinstance(stmt, ir.Let) else variant)
    found: list[Access] = []
    if isinstance(stmt, ir.Write):
        access = Access(stmt.buffer, stmt.index, True, own, stmt.origin, stmt.combine)
        found.append(access)
        if stmt.combine in UPDATES:
            found.append(replace(access, write=False))
    for e in expressions(stmt):
        found += reads(e, own, stmt.origin)
    return tuple(found)


def reads(expr: ir.Expr, variant: frozenset[str], origin: ir.Origin) -> Iterator[Access]:
    """The loads of an expression; indices bound by a Reduce are variant."""
    parts = list(walk(expr))
    bound = variant | {a.name for r in parts if isinstance(r, ir.Reduce) for a in r.axes}
    for e in parts:
        if isinstance(e, ir.Load):
            yield Access(e.buffer, e.index, False, bound, origin)


def touched(s: ir.Stmt) -> set[str]:
    """The arrays that one statement of the host names, those of statements inside left out."""
    match s:
        case ir.For():
            return set()
        case ir.While(cond=cond) | ir.If(cond=cond):
            return loaded(cond)
        case ir.Fetch(buffer=name):
            return {name}
        case ir.Bind(names=names, buffers=buffers):
            return {*names, *buffers}
        case ir.Host(values=values, arrays=arrays, makes=makes):
            return loaded(*(e for _, e in values)) | {a for _, a in arrays} | set(makes)
        case ir.Return(values=values):
            named = {v for v in values if isinstance(v, str)}
            return named | loaded(*expressions(s))
    return {a.buffer for a in accesses((s,))}


def read_buffers(body: Sequence[ir.Stmt]) -> set[str]:
    """The arrays that statements read."""
    return set().union(*map(_read_by, body))


@remembered
def _read_by(stmt: ir.Stmt) -> frozenset[str]:
    found = {a.buffer for a in accesses((stmt,)) if not a.write}
    for s in statements((stmt,)):
        if isinstance(s, ir.Bind):
            found |= set(s.buffers)
        if isinstance(s, ir.Host):
            found |= {a for _, a in s.arrays}
        if isinstance(s, ir.Return):
            found |= {v for v in s.values if isinstance(v, str)}
    return frozenset(found)


def used_buffers(body: Sequence[ir.Stmt]) -> set[str]:
    """The arrays that statements read or store into, not those that they make."""
    return read_buffers(body).union(*map(_stored_by, body))


@remembered
def _stored_by(stmt: ir.Stmt) -> frozenset[str]:
    return frozenset(s.buffer for s in statements((stmt,)) if isinstance(s, ir.Write))


def used_locals(body: Sequence[ir.Stmt]) -> set[str]:
    """The scalar variables that statements read."""
    return set().union(*map(_locals_of, body))


@remembered
def _locals_of(stmt: ir.Stmt) -> frozenset[str]:
    found: set[str] = set()
    for s in statements((stmt,)):
        for e in expressions(s):
            found |= {x.name for x in walk(e) if isinstance(x, ir.Local)}
    return frozenset(found)


def assigned_locals(body: Iterable[ir.Stmt]) -> set[str]:
    """The scalar variables that statements assign."""
    return {s.name for s in statements(tuple(body)) if isinstance(s, ir.Let)}


@remembered
def _own_locals(s: ir.Stmt) -> frozenset[str]:
    return frozenset(x.name for e in expressions(s) for x in walk(e) if isinstance(x, ir.Local))


def exposed_locals(body: Sequence[ir.Stmt]) -> set[str]:
    """The variables whose value may come from before: read before they are surely assigned."""
    exposed: set[str] = set()
    _exposed(body, set(), exposed)
    return exposed


def surely_assigned(body: Sequence[ir.Stmt]) -> set[str]:
    """The variables that statements give a value whatever happens."""
    return _exposed(body, set(), set())


def _exposed(body: Sequence[ir.Stmt], assigned: set[str], exposed: set[str]) -> set[str]:
    assigned = set(assigned)
    for s in body:
        exposed |= _own_locals(s) - assigned
        if isinstance(s, ir.Let):
            assigned.add(s.name)
        inner = [_exposed(block, assigned, exposed) for block in blocks(s)]
        if isinstance(s, ir.If):
            assigned = assigned | (inner[0] & inner[1])
    return assigned


def plain(poly: Poly) -> Poly:
    """A subscript without the mark that asks for a check."""
    return poly.map_atoms(
        lambda a: (
            a.expr.poly if isinstance(a, Data) and isinstance(a.expr, ir.Value) else Poly.atom(a)
        )
    )
