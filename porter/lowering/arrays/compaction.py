"""Selections by a mask as arrays of their own.

As long as only elementwise operations and reductions use `x[mask]`, it stays what it is: x
and a condition.  Everything else needs its elements one after the other.  Their positions
are a running count of the mask, whose last value, the length, the host reads back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from porter import ir
from porter.dtypes.dtype import BOOL, INT64, WEAK_INT
from porter.ir.effects import defs_in
from porter.ir.scalars import cast, choose, integer, operate
from porter.ir.walk import walk
from porter.lowering.state.builder import Builder
from porter.lowering.state.selections import Known
from porter.numpy_functions import FunctionSpec
from porter.resolve.values import Array, At
from porter.sizes.polynomial import Data, Integer, Poly, sym
from porter.sizes.shapes import lengths, product


@dataclass(frozen=True)
class Selection:
    """Where the elements of a mask go: `position` counts those up to and including each."""

    keep: Array
    position: Array
    count: Poly


def whole(b: Builder, array: Array, name: str = "selected") -> Array:
    """The array itself, or the elements that its mask selects as an array of their length."""
    array = known_whole(b, array)
    if not array.lead:
        return array
    chosen = _selection(b, array)
    rest = [b.sizes.resolve(n) for n in array.shape[array.lead :]]
    buffer = ir.Buffer(b.out.fresh(name), (chosen.count, *rest), array.dtype)
    b.out.buffers[buffer.name] = buffer
    b.out.emit(ir.Alloc(buffer, b.place.origin))
    _scatter(b, buffer, array, chosen)
    made = Array.of(buffer)
    if not b.out.depth:
        b.selections.compacted.append((array, made))
    return made


def known_whole(b: Builder, array: Array) -> Array:
    """The elements of a selection that was made whole: what is stored into them is seen by all."""
    return next((made for known, made in b.selections.compacted if known is array), array)


def unselected(b: Builder, spec: FunctionSpec, bound: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, selections made whole where the function needs that."""
    lazy = spec.lazy or spec.ufunc

    def given(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(given, value))
        return value if lazy or not isinstance(value, Array) else whole(b, value)

    return {key: given(value) for key, value in bound.items()}


def held_mask(b: Builder, array: Array, name: str) -> At:
    """The mask of a selection as it is now; selections by one mask hold it once."""
    mask, lead = array.mask, array.lead
    assert mask is not None
    if any(_mask_at(array) == _mask_at(replace(array, mask=k[-1])) for k in b.selections.masks):
        return mask  # it is one that was held
    known = as_held(b, array)
    if known is not None:
        return known
    held = b.define(name, Array(array.shape[:lead], BOOL, mask))
    at: At = held.at

    def first(idx: Sequence[Poly]) -> ir.Expr:
        return at(list(idx)[:lead])

    _remember(b, b.selections.masks, array, first)
    return first


def as_held(b: Builder, array: Array) -> At | None:
    """The mask of a selection as an earlier one holds it, if it is the same still."""
    held: At | None = _recall(b, b.selections.masks, array)
    return held


def length(b: Builder, array: Array) -> ir.Expr:
    """How many elements a mask selects: known to the host if the selection was made whole."""
    known = _recall(b, b.selections.positions, array)
    if known is not None:
        return ir.Value(known.count, WEAK_INT)
    mask = array.mask
    assert mask is not None
    axes = tuple(ir.Axis(b.out.fresh("k_"), b.sizes.resolve(n)) for n in array.shape[: array.lead])
    body = cast(cast(mask([sym(a.name, True) for a in axes]), BOOL), INT64)
    return cast(ir.Reduce("sum", axes, body, INT64), WEAK_INT)


def fetched(b: Builder, value: ir.Expr, name: str = "length", nonneg: bool = False) -> Poly:
    """An integer that is computed on the device as a size: the host reads it back."""
    if b.scope.ranges or b.scope.loops or b.scope.in_while:
        raise b.refuse("PRT906", "a size computed from array elements differs between iterations",
                       "allocate an array of the largest size before the loop")  # fmt: skip
    return _read_back(b, "size", cast(value, INT64), name, nonneg)


def _read_back(b: Builder, name: str, value: ir.Expr, known: str, nonneg: bool = True) -> Poly:
    """The host's name of an integer that is computed into a 0-d array."""
    array = b.define(name, Array((), INT64, lambda _: value))
    assert array.view is not None
    known = b.out.fresh(known)
    b.out.emit(ir.Fetch(known, array.view.buffer, b.place.origin))
    b.sizes.fetched.add(known)
    return Poly.atom(Integer(known, nonneg))


def _scatter(b: Builder, buffer: ir.Buffer, array: Array, chosen: Selection) -> None:
    """Each selected element goes to its position; no two have the same."""
    axes = b.axes([*chosen.keep.shape, *array.shape[array.lead :]])
    k, *rest = (sym(a.name, True) for a in axes)
    position = chosen.position.at([k])
    target = Poly.atom(Data(position, True, inside=True)) - 1
    body = cast(array.at([*_unravel(b, array, k), *rest]), array.dtype)
    mask = chosen.keep.at([k])
    b.out.emit(
        ir.Write(buffer.name, axes, (target, *rest), body, b.place.origin, mask, combine="once")
    )


def spread(b: Builder, target: Array, source: Array) -> Array:
    """`x[mask] = source` for as many elements as the mask selects: each goes where it belongs."""
    chosen = _selection(b, target)
    b.sizes.unify(chosen.count, source.shape[0], "the store to a selection")

    def at(idx: Sequence[Poly]) -> ir.Expr:
        flat = Poly()
        for n, i in zip(target.shape[: target.lead], idx, strict=False):
            flat = flat * b.sizes.resolve(n) + i
        position = Poly.atom(Data(chosen.position.at([flat]), True, inside=True))
        return source.at([position - 1, *idx[target.lead :]])

    return Array(target.shape, source.dtype, at, None, target.mask, target.lead)


def _unravel(b: Builder, array: Array, k: Poly) -> list[Poly]:
    """The subscripts along the axes of the mask of element k in row-major order."""
    index: list[Poly] = []
    for n in reversed(array.shape[1 : array.lead]):
        n = b.sizes.resolve(n)
        n = Poly.of(1) if n.constant == 0 else n  # an array of nothing has no element k
        index.append(k % n)
        k = k // n
    return [k, *reversed(index)]


def _selection(b: Builder, array: Array) -> Selection:
    """The positions of what the mask selects, computed once for each mask."""
    known: Selection | None = _recall(b, b.selections.positions, array)
    if known is not None:
        return known
    mask = array.mask
    assert mask is not None
    if b.scope.ranges or b.scope.loops or b.scope.in_while:
        raise b.refuse(
            "PRT906",
            "the number of elements that the mask selects differs between iterations",
            "keep the full shape and use `np.where(mask, x, 0)`",
        )
    size = product(lengths(map(b.sizes.resolve, array.shape[: array.lead])))

    def flat(idx: Sequence[Poly]) -> ir.Expr:
        return cast(mask(_unravel(b, array, idx[0])), BOOL)

    keep = Array((size,), BOOL, flat)
    if not isinstance(keep.at([sym("?", True)]), ir.Load):
        keep = b.define("keep", keep)

    def counted(idx: Sequence[Poly]) -> ir.Expr:
        k = ir.Axis(b.out.fresh("k_"), idx[0] + 1)
        return ir.Reduce("sum", (k,), cast(keep.at([sym(k.name, True)]), INT64), INT64)

    position = b.define("place", Array((size,), INT64, counted))
    some = operate("gt", ir.Value(size, INT64), integer(0))
    last = choose(some, position.at([size - 1]), ir.Value(Poly(), INT64))
    chosen = Selection(keep, position, _read_back(b, "total", last, "count"))
    _remember(b, b.selections.positions, array, chosen)
    return chosen


def _mask_at(array: Array) -> ir.Expr:
    assert array.mask is not None
    return array.mask([sym(f"?{d}", True) for d in range(array.lead)])


def _remember(b: Builder, store: list[Known], array: Array, value: Any) -> None:
    """Note what was made of a mask: later statements of the block can use it."""
    block = b.out.blocks[-1]
    store.append((_mask_at(array), array.shape[: array.lead], block, len(block), value))


def _recall(b: Builder, store: list[Known], array: Array) -> Any:
    """What was made of the same mask, if nothing that it reads was stored into since."""
    mask, shape = _mask_at(array), [b.sizes.resolve(n) for n in array.shape[: array.lead]]
    sources = {e.buffer for e in walk(mask) if isinstance(e, ir.Load)}
    for known, extent, block, since, value in store:
        if known == mask and [b.sizes.resolve(n) for n in extent] == shape:
            if block is b.out.blocks[-1] and not defs_in(block[since:]).arrays & sources:
                return value
    return None


def same_selection(arrays: Sequence[Array]) -> bool:
    """Whether arrays can be combined element by element as they are, under one mask.

    Whole arrays may be broadcast along the axes after those of the mask.
    """
    first = next(a for a in arrays if a.lead)
    assert first.mask is not None
    probe = [sym(f"?{d}", True) for d in range(first.lead)]
    for a in arrays:
        if a.mask is None or not a.lead:
            if a.ndim > first.ndim - first.lead:
                return False
        elif a.lead != first.lead or a.ndim != first.ndim or a.mask(probe) != first.mask(probe):
            return False
    return True
