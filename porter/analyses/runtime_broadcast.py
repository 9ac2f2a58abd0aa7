"""Which arguments the host may repeat along an axis of length 1 because another array is longer.

`x + bias` with a bias of one element: porter takes the axes of both as equally long, and the
host makes them so.  Repeating an argument gives NumPy's result if whatever index runs along its
axis runs along an array of the true length too (an anchor), if its length is not asked for, and
if nothing is stored into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from porter import ir
from porter.ir.effects import expressions
from porter.ir.walk import data_of, statements, walk
from porter.sizes.polynomial import Apply, Dim, Poly

Widened = tuple[Dim, Poly]


@dataclass(frozen=True)
class _Scope:
    """A bound index, what is read while it runs, and whether a store runs along it."""

    axis: ir.Axis
    reads: tuple[ir.Load, ...]
    stored: bool


def widenable(program: ir.Program, done: Sequence[Dim]) -> tuple[Widened, ...]:
    """Each with its length, in the order in which the host repeats them."""
    found = _widenable(program, done)
    swapped = [_swapped(program, m, n) for m, n in found]
    others = [w for p in swapped if p is not None for w in _widenable(p, done)
              if w[0] == p.checks[-1].left.dim]  # fmt: skip
    return (*found, *others)


def _swapped(program: ir.Program, dim: Dim, size: Poly) -> ir.Program | None:
    """The program in which the other one of two axes is that which may be repeated.

    None where more depends on it: another check, or an array that is made as long.
    """
    other = size.dim
    if any(isinstance(s, (ir.Alloc, ir.Write)) for s in statements(program.body)):
        return None
    about = [c for c in program.checks if {dim, other} & (c.left.dims() | c.right.dims())]
    if other is None or len(about) != 1 or about[0].kind != "broadcast":
        return None
    rest = tuple(c for c in program.checks if c not in about)
    check = replace(about[0], left=about[0].right, right=about[0].left)
    return replace(program, checks=(*rest, check))


def _widenable(program: ir.Program, done: Sequence[Dim]) -> tuple[Widened, ...]:
    sizes = _candidates(program, done)
    if not sizes:
        return ()
    scopes = list(_scopes(program.body))
    bound = {s.axis.name for s in scopes}
    for e in _all(program.body):
        if isinstance(e, ir.Load):
            for d, p in enumerate(e.index):
                dim = Dim(e.buffer, d)
                if dim in sizes and not {p.name, (sizes[dim] - 1 - p).name} & bound:
                    del sizes[dim]  # neither from its start nor from its end
    _without_counted(program.body, sizes)
    _without_unknown_lengths(program, scopes, sizes)
    while loose := next((m for s in scopes if (m := _loose(s, sizes))), None):
        del sizes[loose]
    # what others are measured by comes first
    return tuple(reversed(sizes.items()))


def _without_counted(body: tuple[ir.Stmt, ...], sizes: dict[Dim, Poly]) -> None:
    """An index that is a number, too, counts along the axis as it is: `np.triu(x)` of one row."""
    for s in statements(body):
        nodes = [x for e in expressions(s) for x in walk(e)]
        counted = {n for x in nodes if isinstance(x, ir.Value) for n in x.poly.names()}
        for load in (x for x in nodes if isinstance(x, ir.Load)):
            for d, p in enumerate(load.index):
                if p.names() & counted:
                    sizes.pop(Dim(load.buffer, d), None)


def _candidates(program: ir.Program, done: Sequence[Dim]) -> dict[Dim, Poly]:
    kept = changed(program)
    sizes: dict[Dim, Poly] = {}
    for c in program.checks:
        dim = c.left.dim
        if dim is None or c.kind not in ("broadcast", "store") or c.when:
            continue
        if dim not in done and dim.array not in kept and dim.name not in program.sized:
            sizes[dim] = c.right
    for c in program.checks:
        for dim in _asked(c):
            if not (c.kind in ("broadcast", "store") and c.left.dim == dim):
                sizes.pop(dim, None)
    return sizes


def _asked(c: ir.Check) -> set[Dim]:
    """The sizes that a check depends on; those that axes are compared with may be repeated."""
    if c.kind in ("broadcast", "store") and c.right.symbol:
        return c.left.dims()
    return {d for p in (c.left, c.right, *c.when) for d in p.dims()}


def changed(program: ir.Program) -> set[str]:
    """Arrays that are stored into, returned, bound to a name or seen by the user's own checks."""
    found: set[str] = set()
    for s in statements(program.body):
        match s:
            case ir.Write(buffer=name):
                found.add(name)
            case ir.Bind(buffers=names, names=others):
                found |= {*names, *others}
            case ir.Return(values=values):
                found |= {v for v in values if isinstance(v, str)}
            case ir.Host(arrays=arrays, asks=asks):
                found |= {*asks, *(a for _, a in arrays)}
    return found


def _scopes(body: tuple[ir.Stmt, ...]) -> Iterator[_Scope]:
    for s in statements(body):
        for e in expressions(s):
            for x in walk(e):
                if isinstance(x, ir.Reduce):
                    reads = tuple(y for y in walk(x.body) if isinstance(y, ir.Load))
                    yield from (_Scope(a, reads, False) for a in x.axes)
        if isinstance(s, (ir.Def, ir.Write)):
            reads = tuple(y for e in expressions(s) for y in walk(e) if isinstance(y, ir.Load))
            index = s.index if isinstance(s, ir.Write) else ()
            picking = tuple(y for p in index for e in data_of(p) for y in walk(e)
                            if isinstance(y, ir.Load))  # fmt: skip
            for a in s.axes:
                yield _Scope(a, reads, any(a.name in p.names() for p in index))
                # what picks the elements of a store is as long as it is: no value makes it longer
                if any(a.name in p.names() for e in picking for p in e.index):
                    yield _Scope(a, picking, False)


def _all(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Expr]:
    for s in statements(body):
        for e in expressions(s):
            yield from walk(e)


def _loose(scope: _Scope, sizes: dict[Dim, Poly]) -> Dim | None:
    """The last candidate that the index runs along if no anchor holds its length, or if it is the
    shorter one of two: `np.diagonal(x)`."""
    name = scope.axis.name
    found = {Dim(e.buffer, d) for e in scope.reads
             for d, p in enumerate(e.index) if name in p.names()}  # fmt: skip
    chosen = {n for a in scope.axis.extent.atoms() if isinstance(a, Apply)
              for n in Poly.atom(a).names()}  # fmt: skip
    seen = [m for m in sizes if m in found]
    decided = [m for m in seen if chosen & {m.name, *sizes[m].names()}]
    if not decided and (scope.stored or found - sizes.keys()):
        return None
    return next(reversed(decided or seen), None)


def _without_unknown_lengths(
    program: ir.Program, scopes: Sequence[_Scope], sizes: dict[Dim, Poly]
) -> None:
    """An index that runs along no array has a length that may be anyone's."""
    for s in scopes:
        if s.stored or any(s.axis.name in p.names() for e in s.reads for p in e.index):
            continue
        if s.axis.extent.names() & program.sized:
            continue
        names = _as_long(program, s.axis.extent.names())
        for member in [m for m, n in sizes.items() if {m.name, *n.names()} & names]:
            del sizes[member]


def _as_long(program: ir.Program, names: Set[str]) -> set[str]:
    """The sizes, and those that are taken as equal to them: a length may be written as any."""
    found = set(names)
    pairs = [{c.left.dim.name, c.right.dim.name} for c in program.checks
             if c.left.dim is not None and c.right.dim is not None]  # fmt: skip
    while more := set().union(*(p for p in pairs if p & found)) - found:
        found |= more
    return found
