"""Indexing: integers, slices, None, ellipsis, boolean masks and integer arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from porter import ir
from porter.dtypes.dtype import INT64, WEAK_INT
from porter.ir.scalars import integer, poly_of
from porter.ir.walk import substitute, substitute_poly, walk
from porter.lowering.arrays import literals
from porter.lowering.arrays.calculus import ONE, aligned, broadcast_shape, reindex
from porter.lowering.arrays.compaction import same_selection, whole
from porter.lowering.arrays.picking import is_mask, masked, match_mask, positions
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import highest, lowest, never_negative
from porter.resolve.values import ELLIPSIS, NONE, Array, Slice, Special
from porter.sizes.polynomial import (
    Apply,
    Data,
    Integer,
    Poly,
    maximum,
    minimum,
    slice_bound,
    sym,
    unchecked,
    wrapped,
)

#: NumPy's objects that are subscripted instead of called
GRIDS = {"numpy.mgrid", "numpy.ogrid", "numpy.r_", "numpy.c_", "numpy.s_", "numpy.index_exp"}
# One output dimension or one fixed subscript per item of the index.
#: said of an axis that is too short for what a branch may read: the host cannot tell if it does
IN_A_BRANCH = ", in a branch that data decide"
_Part = tuple[str, Any]


def bounded(b: Builder, bound: Poly | None, size: Poly, is_stop: bool) -> Poly:
    """A slice bound as a position; clamped only where a short array would be overrun.

    A start beyond the end or a stop before the beginning gives a negative length, which
    counts as empty, so that `x[1:-1]` runs from 1 over `n - 2` elements.
    """
    if bound is None:
        return size if is_stop else Poly()
    bound = b.sizes.resolve(bound)
    constant = bound.constant
    below = (
        constant < 0
        if constant is not None
        else never_negative(b.sizes, -highest(b.sizes, bound) - 1)
    )
    if below:
        return size + bound if is_stop else maximum(size + bound, 0)
    if bound.is_nonneg() or _within(b, bound):
        return bound if not is_stop or _never_above(b, bound, size) else minimum(bound, size)
    return slice_bound(bound, size)


def _within(b: Builder, bound: Poly) -> bool:
    """Whether a bound with loop indices is certainly not negative."""
    return never_negative(b.sizes, lowest(b.sizes, bound))


def _never_above(b: Builder, bound: Poly, size: Poly) -> bool:
    return never_negative(b.sizes, size - highest(b.sizes, bound))


def slice_positions(b: Builder, s: Slice, size: Poly) -> tuple[Poly, Poly, Poly | int]:
    """(start, length, step) of a slice over a dimension of `size` elements."""
    step = 1 if s.step is None else s.step.constant
    size = b.sizes.resolve(size)
    if s.step is not None and step is None:
        step_there = _positive_step(b, b.sizes.resolve(s.step))
        start, stop = bounded(b, s.start, size, False), bounded(b, s.stop, size, True)
        return start, _steps(b, stop - start, step_there), step_there
    if not step:
        raise b.refuse(
            "PRT905",
            "the step of a slice must be a nonzero constant",
            "write the step as a literal",
        )
    if step > 0:
        start = bounded(b, s.start, size, False)
        stop = bounded(b, s.stop, size, True)
        span = stop - start
    else:
        start = _reverse_bound(b, s.start, size, False)
        stop = _reverse_bound(b, s.stop, size, True)
        span = start - stop
    length = span if abs(step) == 1 else (span + (abs(step) - 1)) // abs(step)
    return start, length, step


def _positive_step(b: Builder, step: Poly) -> Poly:
    """A step that is known at run time only: the host tests that it is positive."""
    low = lowest(b.sizes, step)
    if never_negative(b.sizes, low - 1):
        return step
    inner = b.scope.indices
    if low.names() & inner or any(isinstance(a, Data) for a in low.atoms()):
        raise b.refuse(
            "PRT905",
            f"the sign of the step `{step}` of this slice is unknown",
            "write the step as a literal",
        )
    message = "the step of a slice is not positive"
    b.sizes.check(ir.Check("index", Poly.of(1), low, message, "ValueError"))
    return step


def _steps(b: Builder, span: Poly, step: Poly) -> Poly:
    """How many steps fit into a span, rounded up: q for `q * step - i` with i in range(step)."""
    q, rest = Poly(), span
    for atom in {a for a in span.atoms() if isinstance(a, Apply)}:
        if (whole := Poly.atom(atom) * step).terms[0] in span.terms:
            q, rest = q + Poly.atom(atom), rest - whole
    below = never_negative(b.sizes, lowest(b.sizes, rest) + step - 1) and never_negative(
        b.sizes, lowest(b.sizes, -rest)
    )
    return q if below and q != Poly() else (span + step - 1) // step


def _reverse_bound(b: Builder, bound: Poly | None, size: Poly, is_stop: bool) -> Poly:
    if bound is None:
        return Poly.of(-1) if is_stop else size - 1
    constant = bound.constant
    if constant is not None and constant < 0:
        return maximum(size + constant, -1) if is_stop else size + constant
    if bound.is_nonneg() or _within(b, bound):
        free = is_stop or _never_above(b, bound + 1, size)
        return bound if free else minimum(bound, size - 1)
    raise b.refuse(
        "PRT905",
        f"the sign of the bound `{bound}` of this slice is unknown",
        "use a literal bound, or a size such as `x.shape[0]`",
    )


def element(b: Builder, index: ir.Expr, size: Poly, axis: int) -> Poly:
    """The position that an integer subscript means; a negative constant counts from the end.

    An affine subscript that may leave the array gets a check on the host; one that is read
    from data is checked in the kernel.
    """
    poly = poly_of(index)
    if poly is None:
        if index.dtype.kind not in "iu":
            raise b.refuse(
                "PRT905",
                f"a {index.dtype.name} value cannot be used as an index",
                "convert it to an integer with `int(...)`",
            )
        return Poly.atom(Data(index, index.dtype.kind == "u"))
    poly, size = b.sizes.resolve(poly), b.sizes.resolve(size)
    low, high = lowest(b.sizes, poly), highest(b.sizes, poly)
    if any(isinstance(a, Data) for a in poly.atoms()):
        return poly
    if never_negative(b.sizes, -1 - high):
        return size + poly if _fits(b, -low, size, axis) else _unproved(poly)
    fits = _fits(b, high + 1, size, axis, _of_few(b, poly)) and (
        never_negative(b.sizes, low) or _fits(b, -low, size, axis)
    )
    return poly if fits else _unproved(poly)


def _of_few(b: Builder, poly: Poly) -> Poly | None:
    """How many elements `x[i % 3]` needs where the loop is short: as many as `x[i]`."""
    atom = poly.terms[0][0][0] if len(poly.terms) == 1 and poly.terms[0][0] else None
    if not isinstance(atom, Apply) or atom.op != "%" or poly != Poly.atom(atom):
        return None
    low, high = lowest(b.sizes, atom.args[0]), highest(b.sizes, atom.args[0])
    known = never_negative(b.sizes, low) and not high.names() & b.scope.indices
    return high + 1 if known else None


def _unproved(poly: Poly) -> Poly:
    """A subscript that nothing shows to be in bounds: the kernel checks it."""
    return Poly.atom(Data(ir.Value(poly, INT64)))


def _fits(b: Builder, least: Poly, size: Poly, axis: int, few: Poly | None = None) -> bool:
    """NumPy raises IndexError unless `size >= least`: proved here, or tested by the host.

    Where `few` are known to suffice, the smaller of both counts.
    """
    if any(never_negative(b.sizes, size - n) for n in (least, few) if n is not None):
        return True
    if few is not None and not b.scope.conditional:
        least = minimum(least, few)
    if any(isinstance(a, Data) for p in (least, size) for a in p.atoms()):
        return False
    if (b.scope.conditional and least.constant is None) or least.names() & b.scope.indices:
        return False
    if b.scope.data_branches and b.scope.ranges and not size.symbol:
        return False  # the loop may never come to it, as with the end of a slice that is empty
    if any(_names(c) & b.scope.indices for c in b.scope.conditions):
        return False  # nor may the loops where nothing tells for which indices they do
    message = f"index is out of bounds for axis {axis}"
    if b.scope.data_branches and b.scope.ranges:
        message += IN_A_BRANCH
    b.sizes.check(ir.Check("index", least, size, message, "IndexError"))
    return True


def _names(cond: ir.Expr) -> set[str]:
    """The sizes and indices in a condition."""
    return {n for e in walk(cond) if isinstance(e, ir.Value) for n in e.poly.names()}


def _expand(b: Builder, array: Array, items: Sequence[Any]) -> list[Any]:
    """Fill in the ellipsis and the trailing full slices."""
    used = sum(_consumes(i) for i in items)
    if used > array.ndim:
        raise b.refuse(
            "PRT903",
            f"too many indices for a {array.ndim}-D array: {used}",
        )
    full = [Slice(None, None, None)] * (array.ndim - used)
    if any(i is ELLIPSIS for i in items):
        at = next(k for k, i in enumerate(items) if i is ELLIPSIS)
        return [*items[:at], *full, *items[at + 1 :]]
    return [*items, *full]


def _consumes(item: Any) -> int:
    if isinstance(item, Special):
        return 0
    if is_mask(item):
        return int(item.ndim)
    return 1


def index(b: Builder, array: Array, items: Sequence[Any]) -> Array | ir.Expr:
    """`array[items]`: a view for integers, slices and None; computed otherwise."""
    result = index_array(b, array, items)
    return result if result.ndim else literals.element(b, result.at(()))


def index_array(b: Builder, array: Array, items: Sequence[Any], target: bool = False) -> Array:
    """As `index`, an element being a 0-d view; a `target` of a store is always a view."""
    if len(items) == 1 and is_mask(items[0]):
        return masked(b, array, items[0])
    behind = None if target else _behind_mask(b, array, items)
    if behind is not None:
        return behind
    array = whole(b, array)
    items = _expand(b, array, items)
    if any(map(is_mask, items)):
        return _with_masks(b, array, items, target)
    parts = _parts(b, array, items)
    if any(isinstance(i, Array) for i in items):
        return _gather(b, array, parts, target)
    shape = tuple(p[1][1] for p in parts if p[0] == "slice" or p[0] == "new")

    def back(idx: Sequence[Poly]) -> list[Poly]:
        outer = iter(idx)
        return [q for p in parts for q in _position(p, outer)]

    return reindex(array, shape, back)


def _behind_mask(b: Builder, array: Array, items: Sequence[Any]) -> Array | None:
    """A selection all of which is taken, with subscripts along the axes behind: `x[mask][:, 0]`."""
    whole_axis, rest = Slice(None, None, None), list(items[1:])
    if not array.lead or not items or items[0] != whole_axis:
        return None
    if any(isinstance(i, Special) or is_mask(i) for i in rest):
        return None
    # several arrays that stand apart would put their axes in front
    if any(isinstance(i, Array) for i in rest) and sum(not isinstance(i, Slice) for i in rest) > 1:
        return None
    plain = replace(array, mask=None, lead=0, view=None)
    found = index_array(b, plain, [whole_axis] * array.lead + rest)
    return replace(found, mask=array.mask, lead=array.lead, shown_of=array.shown_of)


def _with_masks(b: Builder, array: Array, items: Sequence[Any], target: bool) -> Array:
    """A mask among other subscripts: first, beside slices, or as the positions it selects."""
    first, rest = items[0], list(items[1:])
    if is_mask(first) and not any(isinstance(i, Array) for i in rest):
        before = [Slice(None, None, None)] * first.ndim
        return masked(b, index_array(b, array, [*before, *rest], target), first)
    expanded: list[Any] = []
    axis = 0
    for item in items:
        if is_mask(item):
            match_mask(b, array.shape[axis:], item)
            expanded += positions(b, item)
        else:
            expanded.append(item)
        axis += item.ndim if is_mask(item) else 0 if isinstance(item, Special) else 1
    return index_array(b, array, expanded, target)


def _position(part: _Part, outer: Any) -> list[Poly]:
    kind, value = part
    if kind == "at":
        return [value]
    i = next(outer)
    if kind == "new":
        return []
    start, _, step = value
    return [start + i * step]


def _parts(b: Builder, array: Array, items: Sequence[Any]) -> list[_Part]:
    parts: list[_Part] = []
    axis = 0
    for item in items:
        if item is NONE:
            parts.append(("new", (None, ONE)))
            continue
        size = array.shape[axis]
        if isinstance(item, Slice):
            parts.append(("slice", slice_positions(b, item, size)))
        elif isinstance(item, Array):
            parts.append(("array", item))
        elif isinstance(item, ir.Const) or not hasattr(item, "dtype"):
            raise b.refuse("PRT905", "the index is not an integer, a slice or an array")
        else:
            at = element(b, item, size, axis)
            known = poly_of(item)
            if known is not None and known.constant is None:
                at = _from_front(b, array, at)
            parts.append(("at", _within_view(array, at, b.sizes.resolve(size))))
        axis += 1
    return parts


def _gather(b: Builder, array: Array, parts: list[_Part], target: bool) -> Array:
    """Integer-array indexing: the index arrays broadcast; their axes come first or in place."""
    where = [k for k, p in enumerate(parts) if p[0] == "array"]
    fixed = [k for k, p in enumerate(parts) if p[0] in ("array", "at")]
    arrays: list[Array] = [parts[k][1] for k in where]
    for a in arrays:
        if a.dtype.kind not in "iu":
            raise b.refuse(
                "PRT905",
                f"a {a.dtype.name} array cannot be used as an index",
                "convert it to integers with `astype(np.int64)`",
            )
    if any(a.lead for a in arrays):
        if fixed != list(range(len(arrays))) or not same_selection(arrays):
            arrays = [whole(b, a) for a in arrays]
    shape = arrays[0].shape
    if len(arrays) > 1:
        shape = broadcast_shape(b, [a.shape for a in arrays], "the index arrays")
    adjacent = fixed == list(range(fixed[0], fixed[-1] + 1))
    lead = sum(p[0] in ("slice", "new") for p in parts[: fixed[0]]) if adjacent else 0
    others = tuple(p[1][1] for p in parts if p[0] in ("slice", "new"))
    result = (*others[:lead], *shape, *others[lead:])

    axes = [d for d, p in enumerate(p for p in parts if p[0] != "new") if p[0] == "array"]
    positions = [_positions(b, a, array, d, shape) for a, d in zip(arrays, axes, strict=True)]

    def back(idx: Sequence[Poly]) -> list[Poly]:
        picked = idx[lead : lead + len(shape)]
        outer = iter([*idx[:lead], *idx[lead + len(shape) :]])
        given = iter(zip(arrays, positions, strict=True))
        full: list[Poly] = []
        for kind, value in parts:
            if kind == "array":
                picking, place = next(given)
                full.append(place(aligned(picking.shape, picked)))
            else:
                full += _position((kind, value), outer)
        return full

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return array.at(back(idx))

    view = array.view
    if view is not None:
        inner = view.index
        view = replace(view, index=lambda idx: inner(back(idx))) if target else None
    chosen = arrays[0]
    mask, covered = chosen.mask, chosen.lead
    if mask is None:
        return Array(result, array.dtype, at, view)
    return Array(result, array.dtype, at, view, lambda idx: mask(list(idx)[:covered]), covered)


def _positions(
    b: Builder, index: Array, array: Array, axis: int, shape: Sequence[Poly]
) -> Callable[[Sequence[Poly]], Poly]:
    """The elements of an index array as subscripts: those that follow no data proved in bounds."""
    size = b.sizes.resolve(array.shape[axis])
    over = [ir.Axis(f"?{d}", b.sizes.resolve(n)) for d, n in enumerate(index.shape)]
    # an empty result reads nothing, whatever the other index arrays say
    others = [ir.Axis(f"?other{d}", b.sizes.resolve(n)) for d, n in enumerate(shape)]
    probe = index.at([sym(a.name, True) for a in over])
    plain = as_index(_defined(b, probe))
    follows_data = any(isinstance(a, Data) for a in plain.atoms())
    outer = len(b.scope.ranges)
    b.scope.ranges += over + others
    # what a mask leaves out is not read
    conditional, b.scope.conditional = b.scope.conditional, b.scope.conditional or index.lead > 0
    known = literals.values(b, probe)
    fits = min(known, default=-1) >= 0 and _fits(b, Poly.of(max(known) + 1), size, axis)
    found = plain if follows_data else element(b, integer(plain), size, axis)
    positive = follows_data or never_negative(b.sizes, lowest(b.sizes, found))
    del b.scope.ranges[outer:]
    b.scope.conditional = conditional
    if fits:
        return lambda idx: _within_view(array, Poly.atom(Data(index.at(idx), True, True)), size)
    if follows_data or isinstance(probe, ir.Load):
        proved = found == plain and positive and not follows_data
        return lambda idx: _within_view(array, as_index(index.at(idx), proved), size)

    found = found if positive or unchecked(found) else _unproved(found)

    def at(idx: Sequence[Poly]) -> Poly:
        where = {a.name: i for a, i in zip(over, idx, strict=True)}
        return _within_view(array, substitute_poly(found, where), size)

    return at


def _defined(b: Builder, e: ir.Expr) -> ir.Expr:
    """What an element of a named array was defined as, if nothing was stored into it since."""
    if not isinstance(e, ir.Load):
        return e
    known = b.out.definition(e.buffer)
    if known is None:
        return e
    return substitute(known.body, {a.name: i for a, i in zip(known.axes, e.index, strict=True)})


def _from_front(b: Builder, array: Array, position: Poly) -> Poly:
    """A position that may be negative counts from the end: the kernel sees to that.

    In a stored array any negative position does so by itself; a named expression may yet be
    computed where it is read, at the position that stands there.
    """
    if unchecked(position) or never_negative(b.sizes, lowest(b.sizes, position)):
        return position
    stored = array.view is not None and b.out.definition(array.view.buffer) is None
    return position if array.is_buffer and stored else _unproved(position)


def _within_view(array: Array, position: Poly, size: Poly) -> Poly:
    """The check of a load knows the size of its array, not that of a part of it."""
    return position if array.is_buffer else wrapped(position, size)


def as_index(expr: ir.Expr, proved: bool = False) -> Poly:
    """An element of an index array as a subscript."""
    poly = poly_of(expr)
    if poly is None and isinstance(expr, ir.Value):
        poly = expr.poly
    if poly is not None:
        return poly
    return Poly.atom(Data(expr, expr.dtype.kind == "u", proved=proved))


def row(b: Builder, array: Array, k: Poly) -> Array | ir.Expr:
    """`array[k]` for a k that is in range: what iteration over an array gives."""

    def back(idx: Sequence[Poly]) -> list[Poly]:
        return [k, *idx]

    result = reindex(array, array.shape[1:], back)
    return result if array.ndim > 1 else literals.element(b, result.at(()))


def host_integer(name: str) -> ir.Expr:
    """An integer that the host computes under a name."""
    return ir.Value(host_size(name), WEAK_INT)


def host_size(name: str) -> Poly:
    """The same as a size."""
    return Poly.atom(Integer(name))
