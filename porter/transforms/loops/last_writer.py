"""Array stores at subscripts from data: of the elements that meet, the last one counts.

NumPy stores in order, so `x[idx] = v` leaves the last of equal positions.  Threads have no
order: each first enters its position into an array of the target's size by an atomic
maximum; then the one that finds its own position there stores.  Nothing of this is needed
where the subscripts differ anyway, or where all store one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.reductions import has_data
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import symbols
from porter.ir.context import Context
from porter.ir.rebuild import map_host, rename_axes
from porter.ir.scalars import operate
from porter.ir.walk import free_names, rewrite, walk
from porter.sizes.polynomial import Apply, Atom, Data, Poly
from porter.transforms.loops.scatter import supported, uses, varies

Index = tuple[Poly, ...]


def resolve_last_writers(body: tuple[ir.Stmt, ...], context: Context) -> tuple[ir.Stmt, ...]:
    """The pass: stores that may meet say how, or are told apart."""
    supported(body, context.buffers)
    return map_host(body, lambda s: _told_apart(s, context))


def _told_apart(s: ir.Stmt, context: Context) -> list[ir.Stmt] | None:
    if not isinstance(s, ir.Write) or s.combine is not None or not varies(s.index, s.axes):
        return None
    if all(_has_own_place(a, s.index, s.axes) for a in s.axes):
        return [replace(s, combine="once")]
    if _is_one_value(s):
        return [replace(s, combine="same")]
    dims, axes = _keys(s)
    return _by_position(s, dims, axes, context)


def _has_own_place(axis: ir.Axis, index: Sequence[Poly], axes: Sequence[ir.Axis]) -> bool:
    """Whether a subscript moves by one with this axis and with no other."""
    others = {a.name for a in axes} - {axis.name}
    return any(
        p.coefficient(axis.name) in (1, -1) and not has_data((p,)) and not p.names() & others
        for p in index
    )


def _is_one_value(s: ir.Write) -> bool:
    own = any(isinstance(e, ir.Load) and e.buffer == s.buffer for e in walk(s.body))
    return not own and not free_names(s.body) & {a.name for a in s.axes}


def _keys(s: ir.Write) -> tuple[list[int], tuple[ir.Axis, ...]]:
    """The dimensions subscripted by data, and the axes that decide which elements meet."""
    dims = [d for d, p in enumerate(s.index) if has_data((p,))]
    keys = [a for a in s.axes if any(uses(s.index[d], {a.name}) for d in dims)]
    others = [a for a in s.axes if a not in keys]
    rest = [p for d, p in enumerate(s.index) if d not in dims]
    apart = all(_has_own_place(a, rest, s.axes) for a in others)
    if not apart or (s.mask is not None and free_names(s.mask) & {a.name for a in others}):
        return list(range(len(s.index))), s.axes
    return dims, tuple(keys)


def _by_position(
    s: ir.Write, dims: Sequence[int], axes: tuple[ir.Axis, ...], context: Context
) -> list[ir.Stmt]:
    """The last position of each element by an atomic maximum, then the stores at these."""
    target = context.buffers[s.buffer]
    last = ir.Buffer(context.fresh(f"{s.buffer}_last"), tuple(target.shape[d] for d in dims), INT64)
    context.buffers[last.name] = last
    fill = tuple(ir.Axis(context.fresh("i_"), n) for n in last.shape)
    index = tuple(s.index[d] for d in dims)
    position = ir.Value(_position(axes), INT64)
    new, names = context.fresh_axes(axes)
    enter = rename_axes(
        ir.Write(last.name, (), index, position, s.origin, s.mask, True, "max"), names
    )
    found = ir.Op("eq", (ir.Load(last.name, _inside(index), INT64), position), BOOL)
    return [
        ir.Alloc(last, s.origin),
        ir.Write(last.name, fill, symbols(fill), ir.Const(-1, INT64), s.origin),
        replace(enter, axes=new),
        _guarded(s, dims, found, target),
    ]


def _guarded(s: ir.Write, dims: Sequence[int], found: ir.Expr, target: ir.Buffer) -> ir.Write:
    """The store where the position is found: there, the subscripts are inside of the array."""
    tests = [] if s.mask is None else [s.mask]
    for d in dims:
        if has_data((s.index[d],)) and not _wraps(s.index[d]):
            k, n = (ir.Value(p, INT64) for p in (_inside((s.index[d],))[0], target.shape[d]))
            tests.append(ir.Op("ge", (k, ir.Value(-n.poly, INT64)), BOOL))
            tests.append(ir.Op("lt", (k, n), BOOL))
    mask, *others = (*tests, found)
    for test in others:
        mask = operate("and", mask, test)

    def change(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Load) and e.buffer == s.buffer and e.index == s.index:
            return replace(e, index=_inside(e.index))
        return None

    body = rewrite(s.body, change)
    return replace(s, index=_inside(s.index), body=body, mask=mask, combine="once")


def _inside(index: Index) -> Index:
    """Subscripts that need no check any more."""

    def atom(a: Atom) -> Poly:
        return Poly.atom(replace(a, inside=True) if isinstance(a, Data) else a)

    return tuple(p if _wraps(p) else p.map_atoms(atom) for p in index)


def _wraps(p: Poly) -> bool:
    """Whether a number counts from the end before something is done with it: `x[::-1][k]`.

    Kernels take `x[-1]` as NumPy does, but not `x[n - 1 - k]` for a negative k.
    """
    return any(isinstance(a, Apply) and a.op == "wrap" for a in p.atoms())


def _position(axes: Sequence[ir.Axis]) -> Poly:
    """How many elements come before in the order of NumPy's store."""
    total = Poly()
    for a, i in zip(axes, symbols(axes), strict=True):
        total = total * a.extent + (i - a.lo)
    return total
