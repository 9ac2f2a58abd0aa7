"""Arrays as subscripts: integer arrays gather, boolean ones select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from porter import ir
from porter.dtypes.dtype import INT64
from porter.ir.scalars import operate
from porter.lowering.arrays.compaction import as_held, whole
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import extents
from porter.resolve.values import Array, At
from porter.sizes.polynomial import Poly, sym

MASK_MISMATCH = "boolean index did not match indexed array"


def is_mask(item: Any) -> bool:
    """Whether an item of an index is an array of truth values."""
    return isinstance(item, Array) and item.dtype.kind == "b"


def masked(b: Builder, array: Array, mask: Array) -> Array:
    """`array[mask]`: the elements where the mask holds; a store through it reaches the array."""
    if array.mask is not None:
        narrowed = _narrowed(array, mask)
        if narrowed is not None:
            return narrowed
    array, mask = whole(b, array), whole(b, mask)
    if mask.ndim > array.ndim:
        raise b.refuse("PRT903", "the mask has more dimensions than the array")
    if not mask.ndim:
        raise b.refuse("PRT905", "a single truth value is used as an index", "use `if` instead")
    lead = mask.ndim
    shape = (*match_mask(b, array.shape, mask), *array.shape[lead:])
    at, view, shown = array.at, array.view, array.shown_of
    made = Array(shape, array.dtype, at, view, lambda idx: mask.at(list(idx)[:lead]), lead, shown)
    held = as_held(b, made)
    return made if held is None else replace(made, mask=held)


def match_mask(b: Builder, shape: Sequence[Poly], mask: Array) -> list[Poly]:
    """NumPy raises IndexError unless a mask is as long as the axes that it selects from.

    An axis of a mask that has no elements fits any: NumPy selects nothing then.  The lengths
    along which is selected are returned.
    """
    return [_matched(b, have, want) for have, want in zip(shape, mask.shape, strict=False)]


def _matched(b: Builder, own: Poly, mask: Poly) -> Poly:
    have, want = b.sizes.resolve(own), b.sizes.resolve(mask)
    changing = b.scope.indices | b.sizes.fetched
    if want.dim or (have - want).constant is not None or (have - want).names() & changing:
        b.sizes.unify(have, want, MASK_MISMATCH, error="IndexError")
        return own  # as the array has it: a store compares it with what it stores
    when = (want, *extents(b.sizes))
    b.sizes.check(ir.Check("equal", have, want, MASK_MISMATCH, "IndexError", when=when))
    return want


def _narrowed(array: Array, mask: Array) -> Array | None:
    """A selection from a selection, if the second mask was selected by the first one."""
    first, lead = array.mask, array.lead
    if mask.mask is None or first is None or lead != 1 or mask.ndim != 1:
        return None
    if mask.mask([sym("?", True)]) != first([sym("?", True)]):
        return None

    def both(idx: Sequence[Poly]) -> ir.Expr:
        return operate("and", first(idx[:1]), mask.at(list(idx)[:1]))

    return Array(array.shape, array.dtype, array.at, None, both, lead)


def positions(b: Builder, mask: Array) -> list[Array]:
    """`mask.nonzero()`: for each axis the subscripts of the elements that hold."""
    mask = whole(b, mask)

    def along(d: int) -> At:
        return lambda idx: ir.Value(idx[d], INT64)

    return [Array(mask.shape, INT64, along(d), None, mask.at, mask.ndim) for d in range(mask.ndim)]
