"""Which elements statements read and write, and whether iterations can run in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.axes import symbols
from porter.ir.effects import axes_of, defs, defs_in, expressions, indices, uses, uses_in
from porter.ir.ops import UPDATES
from porter.ir.rebuild import map_blocks, map_exprs
from porter.ir.walk import blocks, host_level, remembered, rewrite, walk
from porter.sizes.polynomial import Apply, Data, Dim, Poly, sym, unchecked


@dataclass(frozen=True)
class Access:
    """One read or write of `buffer[index]`; `variant` are the inner indices in scope."""

    buffer: str
    index: tuple[Poly, ...]
    write: bool
    variant: frozenset[str]
    origin: ir.Origin
    combine: str | None = None


def accesses(body: Sequence[ir.Stmt], variant: frozenset[str] = frozenset()) -> Iterator[Access]:
    """Every access of the statements, nested ones included."""
    for stmt in body:
        own = _own(stmt)
        yield from (replace(a, variant=a.variant | variant) for a in own) if variant else own
        for block in blocks(stmt):
            yield from accesses(block, variant | indices(stmt) | defs_in(body).scalars)


def tests_positions(body: Sequence[ir.Stmt]) -> bool:
    """Whether threads test an index of the statements: out of bounds it sets the error."""
    return any(_is_tested(p) for a in accesses(body) for p in a.index)


def _is_tested(index: Poly) -> bool:
    """Whether data decide which element it is, or which one of a part of an axis."""
    return unchecked(index) or any(isinstance(a, Apply) and a.op == "wrap" for a in index.atoms())


@remembered
def _own(stmt: ir.Stmt) -> tuple[Access, ...]:
    """The accesses of one statement, nested ones left out."""
    own = defs(stmt).scalars.union(a.name for a in axes_of(stmt))
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


def in_own_line(
    axes: Sequence[ir.Axis], touched: Sequence[Access], changing: Collection[str] = ()
) -> bool:
    """Whether each thread touches elements of a part of one array that is its own.

    For each axis there is a dimension in which all subscripts are the thread's index and one
    distance, which is the same in all threads and at all times; `changing` names what is not.
    """
    names = {a.name for a in axes}.union(changing, *(t.variant for t in touched))

    def pins(d: int, axis: ir.Axis) -> bool:
        at = touched[0].index[d]
        rest = at - sym(axis.name, True)
        fixed = not (rest.names() & names or any(isinstance(a, Data) for a in rest.atoms()))
        return fixed and all(t.index[d] == at for t in touched)

    return all(any(pins(d, axis) for d in range(len(touched[0].index))) for axis in axes)


def never_meet(x: Access, y: Access) -> bool:
    """Whether two subscripts differ along an axis, in all threads and iterations: 0 and 1."""

    def same_everywhere(p: Poly) -> bool:
        return all(isinstance(a, Dim) for a in p.atoms())

    return any(
        (p - q).constant not in (None, 0) and same_everywhere(p)
        for p, q in zip(x.index, y.index, strict=True)
    )


def users_of(body: Sequence[ir.Stmt]) -> Counter[str]:
    """How many statements of the host need each array, a stage counting as one."""
    found: Counter[str] = Counter()
    for s in host_level(body):
        if isinstance(s, ir.Stage):
            found.update(uses_in((s,)).arrays)
        elif not isinstance(s, ir.Alloc):
            found.update(uses(s).arrays | defs(s).arrays)
    return found


def plain(poly: Poly) -> Poly:
    """A subscript without the mark that asks for a check."""
    return poly.map_atoms(
        lambda a: (
            a.expr.poly if isinstance(a, Data) and isinstance(a.expr, ir.Value) else Poly.atom(a)
        )
    )


def inside(index: Sequence[Poly], axes: Sequence[ir.Axis], buffer: ir.Buffer) -> bool:
    """Whether subscripts are positions of the array for all indices of the axes."""
    ranges = dict(zip([s.name for s in symbols(axes)], axes, strict=True))
    for p, size in zip(index, buffer.shape, strict=True):
        axis = next((a for n, a in ranges.items() if n in p.names()), None)
        if axis is None or p.coefficient(axis.name) != 1:
            return False
        low, high = (p.replace({axis.name: at}) for at in (axis.lo, axis.hi - 1))
        if not low.is_nonneg() or not (size - 1 - high).is_nonneg():
            return False
    return True


def picks(index: tuple[Poly, ...], axis: ir.Axis) -> bool:
    """Whether a subscript moves by one with an axis."""
    return any(p.coefficient(axis.name) in (1, -1) for p in index)


def touches(s: ir.Stmt, name: str) -> bool:
    """Whether a statement reads or stores elements of an array."""
    return name in uses_in((s,)).arrays


def surely_writes(s: ir.Stmt, name: str) -> bool:
    """Whether a statement stores into an array without reading it, whatever branch it takes."""
    if isinstance(s, ir.Write):
        reads = any(isinstance(e, ir.Load) and e.buffer == name for e in walk(s.body))
        return s.buffer == name and not reads
    if isinstance(s, ir.If) and s.orelse:
        return all(any(surely_writes(x, name) for x in block[:1]) for block in (s.body, s.orelse))
    return False


def as_local(body: tuple[ir.Stmt, ...], name: str, local: str) -> tuple[ir.Stmt, ...]:
    """Statements with a variable in place of the one element of an array that they touch."""

    def change(e: ir.Expr) -> ir.Expr | None:
        return ir.Local(local, e.dtype) if isinstance(e, ir.Load) and e.buffer == name else None

    def convert(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Write) and s.buffer == name:
            return ir.Let(local, rewrite(s.body, change), s.origin)
        s = map_blocks(s, lambda b: tuple(convert(x) for x in b))
        return map_exprs(s, change)

    return tuple(convert(s) if touches(s, name) else s for s in body)
