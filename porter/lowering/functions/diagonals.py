"""Diagonals and triangles of matrices, and matrices made of them."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, FLOAT64, INT64
from porter.ir.scalars import cast, choose, integer
from porter.lowering.arrays.calculus import as_array, delayed, index_value, normal_axis, reindex
from porter.lowering.arrays.rearrange import flat, readonly, settled
from porter.lowering.arrays.stores import store
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, maximum, minimum


def _triangle(name: str, op: str) -> None:
    @function(f"numpy.{name}", "a k=0")
    def body(call: Call) -> Value:
        array, k = call.array("a"), int(call.constant("k"))
        if array.ndim < 2:
            raise call.refuse("PRT903", f"`{call.name}` requires a 2-D array")

        def at(idx: Sequence[Poly]) -> ir.Expr:
            value = array.at(idx)
            inside = ir.Op(op, (index_value(idx[-1]), index_value(idx[-2] + k)), BOOL)
            return choose(inside, value, cast(integer(0), value.dtype))

        return delayed(array, at)


_triangle("triu", "ge")
_triangle("tril", "le")


@function("numpy.tri", "N M=None k=0 dtype=None")
def _tri(call: Call) -> Value:
    rows = shape_of(call, call.value("N"))[0]
    columns = rows if call.value("M") is NONE else shape_of(call, call.value("M"))[0]
    k, dtype = int(call.constant("k")), call.dtype() or FLOAT64

    def at(idx: Sequence[Poly]) -> ir.Expr:
        inside = ir.Op("le", (index_value(idx[1]), index_value(idx[0] + k)), BOOL)
        return choose(inside, cast(integer(1), dtype), cast(integer(0), dtype))

    return Array((rows, columns), dtype, at)


def diagonal(array: Array, k: int, a: int, b: int) -> Array:
    """The elements at (i, i + k) of the axes a and b, along a new last axis: a view."""
    rows, columns = array.shape[a], array.shape[b]
    n = minimum(rows + min(k, 0), columns - max(k, 0))
    others = [d for d in range(array.ndim) if d not in (a, b)]

    def back(idx: Sequence[Poly]) -> list[Poly]:
        at = dict(zip(others, idx[:-1], strict=True))
        at |= {a: idx[-1] - min(k, 0), b: idx[-1] + max(k, 0)}
        return [at[d] for d in range(array.ndim)]

    shape = (*(array.shape[d] for d in others), n if n.is_nonneg() else maximum(n, 0))
    return reindex(array, shape, back)


@function("numpy.diagonal", "a offset=0 axis1=0 axis2=1")
def _diagonal(call: Call) -> Value:
    array = call.array("a")
    if array.ndim < 2:
        raise call.refuse("PRT903", "`diagonal` requires a 2-D array")
    a, b = (normal_axis(call.b, int(call.constant(n)), array.ndim, "`diagonal`")
            for n in ("axis1", "axis2"))  # fmt: skip
    found = diagonal(array, int(call.constant("offset")), a, b)
    return readonly(found, "NumPy makes the diagonal read-only")


@function("numpy.diag", "v k=0")
def _diag(call: Call) -> Value:
    array, k = call.array("v"), int(call.constant("k"))
    if array.ndim == 2:
        return readonly(diagonal(array, k, 0, 1), "NumPy makes the diagonal read-only")
    if array.ndim != 1:
        raise call.refuse("PRT903", "`diag` requires a 1-D or 2-D array")
    return _matrix(call, array, k)


@function("numpy.diagflat", "v k=0")
def _diagflat(call: Call) -> Value:
    return _matrix(call, flat(call.b, call.array("v")), int(call.constant("k")))


def _matrix(call: Call, array: Array, k: int) -> Array:
    """Zeros around the elements at (i, i + k)."""
    values = settled(call.b, array, "diagonal")
    n = values.shape[0] + abs(k)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        on = ir.Op("eq", (index_value(idx[0] + k), index_value(idx[1])), BOOL)
        value = values.at([idx[0] + min(k, 0)])
        return choose(on, value, cast(integer(0), value.dtype))

    return Array((n, n), values.dtype, at)


@function("numpy.fill_diagonal", "a val wrap=False")
def _fill_diagonal(call: Call) -> Value:
    array, value = call.array("a"), as_array(call.operand("val"))
    if array.ndim != 2 or call.constant("wrap"):
        raise call.refuse(
            "PRT901", "`fill_diagonal` is supported for 2-D arrays without `wrap` only"
        )
    if value.ndim:
        raise call.refuse("PRT901", "`fill_diagonal` with an array of values is not supported",
                          "store the values in a loop: `a[i, i] = values[i]`")  # fmt: skip
    store(call.b, diagonal(array, 0, 0, 1), value, "`fill_diagonal`")
    return NONE


@function("numpy.diag_indices", "n ndim=2")
def _diag_indices(call: Call) -> Value:
    (n,) = shape_of(call, call.value("n"))
    positions = Array((n,), INT64, lambda idx: index_value(idx[0]))
    return (positions,) * int(call.constant("ndim"))
