"""Attributes and methods of arrays: most methods are the function of the same name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from porter import ir
from porter.ir.scalars import integer, number, operate
from porter.lowering.arrays.calculus import Operand, as_array, elementwise, reindex, transpose
from porter.lowering.arrays.compaction import length, whole
from porter.lowering.arrays.rearrange import readonly, unflatten
from porter.lowering.evaluation import Evaluator
from porter.lowering.state.builder import Builder
from porter.numpy_functions import Rank, converted, method_of
from porter.resolve.values import Array, DTypeName, Method, Stride, Value
from porter.sizes.polynomial import Poly, maximum


def attribute(ev: Evaluator, owner: Any, attr: str) -> Value:
    """`x.shape`, `x.T`, ... or a method to be called."""
    array = as_array(owner)
    shape = tuple(map(ev.b.sizes.resolve, array.shape))
    if array.mask is not None and attr in ("T", "flat"):
        array = whole(ev.b, array)
    if array.mask is not None and attr in ("shape", "size", "ndim"):
        return _of_selection(ev, array, attr)
    if attr in ("shape", "size", "ndim", "strides"):
        ev.b.sizes.asked |= {"shape", "rank"} if attr in ("ndim", "strides") else {"shape"}
        ev.b.sizes.tell(array)
    match attr:
        case "shape":
            return tuple(integer(positive(n)) for n in shape)
        case "size":
            total = Poly.of(1)
            for n in shape:
                total *= positive(n)
            return integer(total)
        case "ndim":
            return integer(len(shape))
        case "strides" if array.mask is None:
            return tuple(Stride(array, axis) for axis in range(array.ndim))
        case "dtype":
            return DTypeName(array.dtype)
        case "T":
            asks_for_rank(ev.b, array)
            return transpose(array, range(array.ndim)[::-1])
        case "itemsize":
            return integer(array.dtype.itemsize)
        case "nbytes":
            return integer(as_size(attribute(ev, owner, "size")) * array.dtype.itemsize)
        case "flat":
            return flat_iterator(ev.b, array)
        case "real" | "imag":
            return part(ev.b, attr, owner)
    method = method_of(attr)
    if method is not None and method.rank is Rank.REDUCED and not isinstance(owner, Array):
        raise ev.b.refuse("PRT903", f"`.{attr}()` is applied to a scalar, not to an array")
    if method is not None:
        return Method(owner, attr)
    if converted(f"numpy.random.Generator.{attr}"):
        what = f"`.{attr}` is a method of generators of random numbers, not of arrays"
        raise ev.b.refuse("PRT901", what, _GENERATOR)
    raise ev.b.refuse("PRT901", f"`.{attr}` of an array cannot be converted", _HELP.get(attr, ""))


def asks_for_rank(b: Builder, array: Array) -> None:
    """The axes of a line have one order only, those of a table have two."""
    if array.ndim < 2:
        b.sizes.asked |= {"shape", "rank"}


_GENERATOR = "give the type of the generator with `--signature`: `Generator`"
_HELP = dict.fromkeys(("base", "flags", "data", "ctypes"),
                      "remove it: the memory layout does not matter in a kernel")  # fmt: skip


def as_size(value: Value) -> Poly:
    """An attribute that is a size."""
    assert isinstance(value, ir.Value)
    return value.poly


def flat_iterator(b: Builder, array: Array) -> Array:
    """`x.flat`: unlike `ravel()` it writes through, whatever the memory looks like."""
    if not array.ndim:
        return reindex(array, (Poly.of(1),), lambda _: [])
    if array.ndim == 1:
        return reindex(array, array.shape, list)
    sizes = [b.sizes.resolve(n) for n in array.shape]
    total = Poly.of(1)
    for n in sizes:
        total *= positive(n)
    return reindex(array, (total,), lambda idx: unflatten(idx[0], sizes))


def _of_selection(ev: Evaluator, array: Array, attr: str) -> Value:
    """What NumPy says of `x[mask]`: the axes of the mask are one, as long as it selects."""
    behind = [integer(positive(ev.b.sizes.resolve(n))) for n in array.shape[array.lead :]]
    if attr == "ndim":
        return integer(1 + len(behind))
    many = length(ev.b, array)
    if attr == "shape":
        return (many, *behind)
    for n in behind:
        many = operate("mul", many, n)
    return many


def part(b: Builder, which: str, owner: Operand) -> Operand:
    """`z.real` or `z.imag`: NumPy shows the elements of `z` itself, or real `x` as it is."""
    if which == "real" and owner.dtype.kind != "c":
        return owner
    if owner.dtype.weak and owner.dtype.kind != "c":
        return number(0.0) if owner.dtype.kind == "f" else integer(0)  # Python's number, too
    found = elementwise(b, which, owner)
    if isinstance(owner, Array):
        found = as_array(found)  # no ufunc: an array of no dimensions stays one
        if owner.dtype.kind != "c":
            zeros = b.define(which, whole(b, found))
            return readonly(zeros, "NumPy makes the imaginary part of real numbers read-only")
        if owner.view is not None:
            return replace(found, shown_of=owner.view.buffer, chosen=True)
    return found


def positive(n: Poly) -> Poly:
    """An extent as a length: a slice of a short array is empty, never negative."""
    return n if n.is_nonneg() else maximum(n, Poly())
