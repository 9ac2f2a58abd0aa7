"""Loops made of other loops: cut in parts, fused with their neighbours, or done at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter import ir
from porter.analyses.accesses import accesses
from porter.analyses.aliases import under_one_name
from porter.analyses.dependence import Nest, Site, sites
from porter.analyses.obstacles import obstacle
from porter.analyses.reductions import has_data
from porter.ir.aliasing import Aliases
from porter.ir.axes import Range, same_extents, symbols, within
from porter.ir.context import Context
from porter.ir.effects import axes_of, defs_in, exposed_scalars, expressions, uses_in
from porter.ir.ops import RESULT_NAMES
from porter.ir.rebuild import map_blocks, map_exprs, rename_axes, variables_as
from porter.ir.walk import free_names, jumps, rewrite, statements, walk
from porter.sizes.polynomial import Apply, Poly, maximum, minimum, sym


def looped(s: ir.Stmt) -> ir.Stmt:
    """The statement with its stores marked: an iteration may see what another one stores."""
    s = map_blocks(s, lambda b: tuple(map(looped, b)))
    return replace(s, origin=replace(s.origin, looped=True)) if isinstance(s, ir.Write) else s


# -- at once -----------------------------------------------------------------------------


def array_statement(loop: ir.For, after: set[str], context: Context) -> ir.Write | None:
    """`for i: x[i] = f(x[i + 1])` as `x[:] = f(x[1:])`, if each read is of an old value.

    An array statement reads everything before it stores, so iterations may only read what
    later ones write.  The same goes for nested loops over a rectangle.
    """
    loops = [loop]
    while len(loops[-1].body) == 1 and isinstance(loops[-1].body[0], ir.For):
        loops.append(loops[-1].body[0])
    found = single_store(loops[-1].body)
    ranges = tuple(map(Range.of, loops))
    own = {r.index for r in ranges}
    if found is None or any(r.step != 1 or own & (r.lo.names() | r.hi.names()) for r in ranges):
        return None
    store, lets = found
    if lets & (after | exposed_scalars(loop.body)) or store.mask is not None:
        return None
    if len(loops) == 1 and any(isinstance(e, ir.Reduce) for e in walk(store.body)):
        return None
    nest = Nest(ranges, context.here.loops, context.buffers)
    mine = sites([store])
    (target,) = [s for s in mine if s.access.write]
    rank = len(target.access.index)
    new = [
        s.access.buffer for s in mine if len(s.access.index) == rank
        and any(nest.meet(target, s, level) for level in range(len(loops)))
    ]  # fmt: skip
    if target.access.buffer in new:
        return None
    # of an argument that is the same array, an iteration would read what others have stored
    origin = replace(store.origin, looped=bool(new))
    return replace(store, axes=tuple(ir.Axis(r.index, r.hi, r.lo) for r in ranges), origin=origin)


def single_store(body: Sequence[ir.Stmt]) -> tuple[ir.Write, set[str]] | None:
    """The only store of a straight body, with the variables before it put in their places."""
    if not body or not isinstance(body[-1], ir.Write) or body[-1].axes:
        return None
    values: dict[str, ir.Expr] = {}
    change = variables_as(values)
    for s in body[:-1]:
        if not isinstance(s, ir.Let):
            return None
        values[s.name] = rewrite(s.value, change)
    store = map_exprs(body[-1], change)
    names = {n for p in store.index for n in p.names()}
    return None if names & values.keys() else (store, set(values))


# -- cut in parts ------------------------------------------------------------------------


def cut(loop: ir.For, after: set[str], context: Context) -> list[ir.For]:
    """The loop as loops over parts of its body, wherever no later iteration needs the rest.

    Legal between two statements if nothing before them, in a later iteration, touches what
    those after them touch, and no variable passes from one part to another.
    """
    if jumps(loop.body) or len(loop.body) < 2:
        return [loop]
    nest = Nest((Range.of(loop),), context.here.loops, context.buffers)
    found = sites(loop.body)
    parts: list[list[ir.Stmt]] = [[]]
    for k, s in enumerate(loop.body):
        if parts[-1] and _separable(loop, k, found, nest, after):
            parts.append([])
        parts[-1].append(s)
    return [replace(loop, body=tuple(part)) for part in parts]


def _separable(loop: ir.For, k: int, found: list[Site], nest: Nest, after: set[str]) -> bool:
    first, second = loop.body[:k], loop.body[k:]
    made = defs_in(first).scalars
    also = defs_in(second).scalars
    if made & (uses_in(second).scalars | also) or also & uses_in(first).scalars:
        return False
    if not all(isinstance(s, (ir.Let, ir.Write, ir.For, ir.If)) for s in loop.body):
        return False
    before = [s for s in found if s.at < k]
    behind = [s for s in found if s.at >= k]
    return not any(_may_meet(nest, b, a, 0) for b in behind for a in before)


def _may_meet(nest: Nest, first: Site, second: Site, level: int) -> bool:
    x, y = first.access, second.access
    return x.buffer == y.buffer and (x.write or y.write) and nest.meet(first, second, level)


# -- fused -------------------------------------------------------------------------------


def fused_body(loop: ir.For, context: Context) -> ir.For | None:
    """The loop with all statements of its body in one inner loop, where order allows it.

    An array statement is a loop if it reads no element that it has stored already; two loops
    are one if the second needs nothing that the first does later.
    """
    inner = [_as_loop(s, loop, context) for s in loop.body]
    if len(inner) < 2 or any(s is None for s in inner):
        return None
    whole = inner[0]
    for s in inner[1:]:
        if whole is None or s is None:
            return None
        whole = _fused(whole, s, loop, context)
    return None if whole is None else replace(loop, body=(whole,))


def _as_loop(s: ir.Stmt, loop: ir.For, context: Context) -> ir.For | None:
    if isinstance(s, ir.For):
        return s if s.step == 1 else None
    if not isinstance(s, ir.Write) or len(s.axes) != 1 or s.mask is not None:
        return None
    (a,) = s.axes
    single = ir.For(a.name, a.lo, a.hi, 1, (replace(s, axes=()),), s.origin)
    nest = Nest((Range.of(loop), Range.of(single)), context.here.loops, context.buffers)
    mine = sites(single.body)
    (target,) = [x for x in mine if x.access.write]
    return None if any(_may_meet(nest, target, x, 1) for x in mine) else single


def _fused(first: ir.For, second: ir.For, loop: ir.For, context: Context) -> ir.For | None:
    index = sym(first.index, True)
    shift = _shift(first, second)
    moved = {second.index: index + shift}
    body = tuple(rename_axes(s, moved) for s in second.body)
    second = ir.For(first.index, second.lo - shift, second.hi - shift, 1, body, second.origin)
    lo, hi = minimum(first.lo, second.lo), maximum(first.hi, second.hi)
    both = Range(first.index, lo, hi)
    nest = Nest((Range.of(loop), both), context.here.loops, context.buffers)
    parts = [_guarded(x, lo, hi) for x in (first, second)]
    mine, theirs = sites(parts[0]), sites(parts[1])
    if any(_may_meet(nest, t, m, 1) for t in theirs for m in mine):
        return None
    if defs_in(first.body).scalars & exposed_scalars(second.body):
        return None
    return ir.For(first.index, lo, hi, 1, (*parts[0], *parts[1]), first.origin)


def _shift(first: ir.For, second: ir.For) -> Poly:
    """What the second index is ahead: as much as aligns their first subscripts, else nothing."""
    places = []
    for loop in (first, second):
        stores = [s for s in sites(loop.body) if s.access.write]
        places.append(stores[0].access.index if stores else ())
    for p, q in zip(places[0], places[1], strict=False):
        a, b = p - sym(first.index, True), q - sym(second.index, True)
        if first.index not in a.names() and second.index not in b.names():
            return a - b
    return Poly()


def _guarded(loop: ir.For, lo: Poly, hi: Poly) -> tuple[ir.Stmt, ...]:
    """The body where a wider range is still in the loop's own."""
    own, whole = (ir.Axis(loop.index, *ends) for ends in ((loop.hi, loop.lo), (hi, lo)))
    cond = within((own,), (whole,))
    return loop.body if cond is None else (ir.If(cond, loop.body, (), loop.origin),)


# -- element by element --------------------------------------------------------------------


def by_element(body: tuple[ir.Stmt, ...], loop: ir.For, context: Context) -> tuple[ir.Stmt, ...]:
    """Array statements of an iteration as one loop over their elements, if that is all of it.

    A store of one axis is such a loop if it does not read what it stores into.  So is the array of
    a chained assignment, of which only stores read each element, with these.
    """
    made, stores = (body[0], body[1:]) if isinstance(body[0], ir.Def) else (None, body)
    first = made or stores[0]
    if (len(stores) != 1 and made is None) or len(axes_of(first)) != 1:
        return body
    (axis,) = axes_of(first)
    if made is not None and (made.name in context.here.used_later or not stores):
        return body
    if any(_same_for_all(s) for s in body):
        return body
    value = None if made is None else ir.Local(_named(made, context), made.dtype)
    inner: list[ir.Write] = []
    for s in stores:
        moved = _element(s, axis, made, value)
        if moved is None:
            return body
        inner.append(moved)
    aliases = Aliases.of(context.program.body, context.buffers)
    # arguments that are one array are refused when the function is called, as for all loops
    written = aliases.with_others({s.buffer for s in inner})
    lets = () if made is None or value is None else (ir.Let(value.name, made.body, made.origin),)
    if written & {a.buffer for a in accesses((*lets, *inner)) if not a.write}:
        return body
    nest = Nest((Range.of(loop), Range.of(axis)), context.here.loops, context.buffers)
    found = sites(inner)
    if any(_may_meet(nest, late, early, 1) for early in found for late in found
           if early.at < late.at):  # fmt: skip
        return body
    return (ir.For(axis.name, axis.lo, axis.hi, 1, (*lets, *inner), first.origin),)


def over_elements(body: tuple[ir.Stmt, ...], loop: ir.For, context: Context) -> tuple[ir.Stmt, ...]:
    """Array statements of an iteration, some of them in loops, as one loop over their elements.

    Each element runs the loops by itself, so none may need what is stored into another one.
    """
    if not any(isinstance(s, ir.For) for s in body):
        return body
    stores = [s for s in statements(body) if isinstance(s, ir.Write)]
    if not stores or any(len(s.axes) != 1 for s in stores):
        return body
    (axis,) = stores[0].axes
    inside = _elements(body, axis)
    if inside is None:
        return body
    inner = ir.For(axis.name, axis.lo, axis.hi, 1, inside, stores[0].origin)
    outer, context.here = context.here, context.here.inside(loop)
    try:
        either = (inner, under_one_name(inner, context.program))
        return body if any(obstacle(x, set(), context) for x in either) else (inner,)
    finally:
        context.here = outer


def _elements(body: tuple[ir.Stmt, ...], axis: ir.Axis) -> tuple[ir.Stmt, ...] | None:
    """The statements for one element of an axis; None where one is not over that axis."""
    found: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.For):
            inside = _elements(s.body, axis)
            if inside is None:
                return None
            found.append(replace(s, body=inside))
        elif isinstance(s, ir.Let) and not any(isinstance(e, ir.Reduce) for e in walk(s.value)):
            found.append(s)
        else:
            moved = _element(s, axis, None, None)
            if moved is None or _same_for_all(s):
                return None
            found.append(moved)
    return tuple(found)


def _same_for_all(s: ir.Stmt) -> bool:
    """Whether a sum is the same for all elements: threads of their own would each compute it."""
    own = {a.name for a in axes_of(s)}
    return any(
        isinstance(e, ir.Reduce) and not free_names(e) & own
        for whole in expressions(s)
        for e in walk(whole)
    )


def _named(made: ir.Def, context: Context) -> str:
    """A name for an element."""
    body = made.body
    return context.fresh(RESULT_NAMES[body.op] if isinstance(body, ir.Reduce) else made.name)


def _element(
    s: ir.Stmt, axis: ir.Axis, made: ir.Def | None, value: ir.Local | None
) -> ir.Write | None:
    """One element of a store, with the value of the array that was made; None for other stores."""
    if not isinstance(s, ir.Write) or s.mask is not None or s.combine is not None:
        return None
    if not same_extents(s.axes, (axis,)) or s.axes[0].lo != axis.lo:
        return None
    own = symbols(s.axes)
    if made is not None and made.name in {n for p in s.index for n in p.names()}:
        return None
    reads = [e for e in walk(s.body) if isinstance(e, ir.Load) and made and e.buffer == made.name]
    if any(e.index != own for e in reads):
        return None
    body = rewrite(s.body, lambda e: value if e in reads else None)
    store = rename_axes(replace(s, body=body, axes=()), {s.axes[0].name: symbols((axis,))[0]})
    assert isinstance(store, ir.Write)
    return store


# -- at once, half of a rectangle ----------------------------------------------------------


def triangle(axis: ir.Axis, outer: Sequence[ir.Axis]) -> tuple[ir.Axis, ir.Expr] | None:
    """The rectangle around a loop of which one end moves with an outer index by one, and what
    holds inside the triangle; None for other loops.

    `for j in range(i + 1, n)` are all `j < n` with `j >= i + 1`: half of the threads have work.
    """
    if has_data((axis.lo, axis.hi)):
        return None
    lo, hi = axis.lo, axis.hi
    for a in outer:
        low, high = farthest(lo, a, up=False), farthest(hi, a, up=True)
        if low is None or high is None or (low != lo and high != hi):
            return None
        lo, hi = low, high
    whole = ir.Axis(axis.name, hi, lo)
    inside = within((axis,), (whole,))
    return None if inside is None else (whole, inside)


def farthest(bound: Poly, outer: ir.Axis, *, up: bool) -> Poly | None:
    """The largest that a bound is for all of an outer index, or the smallest; None if unknown."""
    factor = bound.coefficient(outer.name)
    if factor is not None:
        at = outer.hi - 1 if (factor > 0) == up else outer.lo
        return bound.replace({outer.name: at}) if abs(factor) <= 1 else None
    if len(bound.terms) != 1 or bound.terms[0][1] != 1 or len(bound.terms[0][0]) != 1:
        return None
    (atom,) = bound.terms[0][0]
    if not isinstance(atom, Apply) or atom.op not in ("min", "max"):
        return None
    ends = [farthest(p, outer, up=up) for p in atom.args]
    if any(e is None for e in ends):
        return None
    one, other = (e for e in ends if e is not None)
    return minimum(one, other) if atom.op == "min" else maximum(one, other)
