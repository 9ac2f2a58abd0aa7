"""What statements use and define, by name: arrays, and scalars (variables, indices, sizes).

A statement uses an array that it stores into, too: the elements that it leaves out stay.  It
defines what has another value, other elements or another meaning after it.  The indices that it
binds for itself (`indices`) are neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from porter.dtypes.dtype import INT64
from porter.ir import nodes as ir
from porter.ir.ops import OPS
from porter.ir.recurrences import Recurrence
from porter.ir.walk import (
    blocks,
    children,
    data_of,
    loaded,
    remembered,
    scalars_of,
    statements,
    walk,
)
from porter.sizes.polynomial import Poly


@dataclass(frozen=True)
class Names:
    """Names of arrays, and of scalars."""

    arrays: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()

    @staticmethod
    def union(several: Iterable[Names]) -> Names:
        """All names of several."""
        known = tuple(several)
        none = frozenset[str]()
        return Names(
            none.union(*(n.arrays for n in known)), none.union(*(n.scalars for n in known))
        )


# -- one statement, those inside it left out -----------------------------------------------


def axes_of(stmt: ir.Stmt) -> tuple[ir.Axis, ...]:
    """The axes that a statement runs over."""
    return stmt.axes if isinstance(stmt, (ir.Def, ir.Write, ir.Stage)) else ()


def floated_numbers(body: tuple[ir.Stmt, ...]) -> set[str]:
    """The numbers that a floating function is called with: `np.sqrt(t)`, or with truth values.

    `np.log((x > 0) * t)` has t's dtype under the logarithm, too: a bool has none of its own.
    """
    found: set[str] = set()
    whole = (e for s in statements(body) for e in expressions(s))
    for e in (x for each in whole for x in walk(each)):
        if isinstance(e, ir.Op) and OPS[e.op].rule in ("float", "real_float"):
            read = [x for a in e.args for x in _beside_bools(a)]
            if not any(isinstance(x, (ir.Load, ir.Local, ir.Reduce)) for x in read):
                names = {x.name for x in read if isinstance(x, ir.Scalar)}
                names |= {n for x in read if isinstance(x, ir.Value) for n in x.poly.names()}
                found |= names if len(names) == 1 else set()
    return found


def _beside_bools(e: ir.Expr) -> Iterator[ir.Expr]:
    """The expression and what is below it, without what truth values are made of."""
    if e.dtype.kind != "b" or isinstance(e, ir.Scalar):
        yield e
        for child in children(e):
            yield from _beside_bools(child)


def expressions(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of one statement, what its sizes and subscripts read from data included."""
    for a in axes_of(stmt):
        for p in (a.lo, a.hi):
            yield from data_of(p)
    match stmt:
        case ir.Def(body=body):
            yield body
        case ir.Write(body=body, index=index, mask=mask):
            for p in index:
                yield from data_of(p)
            yield body
            if mask is not None:
                yield mask
        case ir.Let(value=value):
            yield value
        case ir.Fetch(buffer=name):
            yield ir.Load(name, (), INT64)
        case ir.For(lo=lo, hi=hi):
            yield from (ir.Value(p, INT64) for p in (lo, hi))
        case ir.While(cond=cond) | ir.If(cond=cond):
            yield cond
        case ir.Host(values=values):
            yield from (e for _, e in values)
        case ir.Return(values=values):
            yield from (v for v in values if v is not None and not isinstance(v, str))


def nodes_of(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of one statement and everything below them."""
    for e in expressions(stmt):
        yield from walk(e)


def _sizes(stmt: ir.Stmt) -> Iterator[Poly]:
    """The sizes and subscripts that stand in no expression."""
    for a in axes_of(stmt):
        yield from (a.lo, a.hi)
    match stmt:
        case ir.Write(index=index):
            yield from index
        case ir.Alloc(buffer=buffer):
            yield from buffer.shape


def indices(stmt: ir.Stmt) -> set[str]:
    """The indices that a statement binds, those of its reductions included."""
    found = {a.name for a in axes_of(stmt)} | ({stmt.index} if isinstance(stmt, ir.For) else set())
    folds = [e for e in nodes_of(stmt) if isinstance(e, ir.Reduce)]
    found |= {n for e in folds if isinstance(e, Recurrence) for n in e.olds}
    return found.union(a.name for e in folds for a in e.axes)


def makes(stmt: ir.Stmt) -> frozenset[str]:
    """The arrays that a statement makes; not those that it stores into or binds."""
    match stmt:
        case ir.Def(name=name):
            return frozenset((name,))
        case ir.Alloc(buffer=buffer):
            return frozenset((buffer.name,))
        case ir.Host(makes=names):
            return frozenset(names)
    return frozenset()


@remembered
def uses(stmt: ir.Stmt) -> Names:
    """What one statement needs: what it reads, and the arrays that it stores into or binds."""
    operands = (*expressions(stmt), *(ir.Value(p, INT64) for p in _sizes(stmt)))
    arrays = loaded(*operands)
    match stmt:
        case ir.Write(buffer=name):
            arrays.add(name)
        case ir.Bind(buffers=names):
            arrays.update(names)
        case ir.Host(arrays=pairs):
            arrays.update(name for _, name in pairs)
        case ir.Return(values=values):
            arrays.update(v for v in values if isinstance(v, str))
    scalars = set[str]().union(*map(scalars_of, operands))
    return Names(frozenset(arrays), frozenset(scalars - {a.name for a in axes_of(stmt)}))


@remembered
def defs(stmt: ir.Stmt) -> Names:
    """What one statement defines: what it makes, stores into, binds or assigns."""
    match stmt:
        case ir.Write(buffer=name):
            return Names(arrays=frozenset((name,)))
        case ir.Bind(names=names):
            return Names(arrays=frozenset(names))
        case ir.Let(name=name) | ir.Fetch(name=name):
            return Names(scalars=frozenset((name,)))
        case ir.Host(objects=names, engine=engine, arrays=pairs):
            used_up = {name for _, name in pairs} if engine.is_solver else ()
            return Names(makes(stmt) | frozenset(used_up), frozenset(names))
    return Names(makes(stmt))


# -- statements, those inside them included -------------------------------------------------


def uses_in(body: Sequence[ir.Stmt]) -> Names:
    """What statements need."""
    return Names.union(map(_uses_in, body))


@remembered
def _uses_in(stmt: ir.Stmt) -> Names:
    inner = uses_in([s for block in blocks(stmt) for s in block])
    return Names.union((uses(stmt), Names(inner.arrays, inner.scalars - indices(stmt))))


def defs_in(body: Sequence[ir.Stmt]) -> Names:
    """What statements define."""
    return Names.union(map(_defs_in, body))


@remembered
def _defs_in(stmt: ir.Stmt) -> Names:
    return Names.union(map(defs, statements((stmt,))))


def exposed_scalars(body: Sequence[ir.Stmt]) -> set[str]:
    """The scalars whose value may come from before: read before they are surely assigned."""
    return _run(body, "scalars")[1]


def exposed_arrays(body: Sequence[ir.Stmt]) -> set[str]:
    """The arrays that may come from before: used before they are surely made or bound."""
    return _run(body, "arrays")[1]


def surely_assigned(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """The variables that statements give a value whatever happens."""
    return _run(body, "scalars")[0]


def _run(
    body: Sequence[ir.Stmt], kind: Literal["arrays", "scalars"]
) -> tuple[frozenset[str], set[str]]:
    """The names that are surely given a value, and those that are needed before.

    A store needs its array: that it gives elements another value makes no difference.
    """
    exposed: set[str] = set()

    def run(body: Sequence[ir.Stmt], assigned: frozenset[str]) -> frozenset[str]:
        for s in body:
            exposed.update(getattr(uses(s), kind) - assigned)
            assigned |= getattr(defs(s), kind)
            within = assigned | indices(s) if blocks(s) else assigned
            inner = [run(block, within) for block in blocks(s)]
            if isinstance(s, ir.If):
                assigned |= inner[0] & inner[1]
        return assigned

    return run(body, frozenset()), exposed
