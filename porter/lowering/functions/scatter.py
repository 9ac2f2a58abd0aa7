"""Updates of elements at given positions, where equal positions add up: `np.add.at`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import RANK, DType, limits, promote, strengthen
from porter.ir.scalars import constant_of, number, operate
from porter.lowering.arrays.calculus import Operand, aligned, as_array, astype, elementwise
from porter.lowering.arrays.stores import reads, store
from porter.lowering.arrays.subscripts import index_array
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, sym


def _at(name: str, combine: str) -> None:
    @function(f"numpy.{name}.at", "a indices b")
    def body(call: Call) -> Value:
        target, value = _target(call), call.operand("b")
        if not _alike(target.dtype, value, combine):
            raise call.refuse("PRT907", f"`{call.name}` cannot combine {value.dtype.name} with "
                              f"{target.dtype.name} in place",
                              "convert the values with `astype` first")  # fmt: skip
        if name == "subtract":
            if target.dtype.kind == "u" or constant_of(value) is None:
                # in its own dtype the negative of uint8(3) is 253, of int8(-128) itself
                value = astype(value, strengthen(target.dtype))
            value = elementwise(call.b, "neg", value)
        value = _apart(call, target, value)
        store(call.b, target, value, f"`{call.name}`", combine)
        if combine in ("max", "min") and value.dtype.kind == "f":
            _spread_nan(call, target, value)
        return NONE


def _alike(target: DType, value: Operand, combine: str) -> bool:
    """Whether an update in the target's dtype does what NumPy's does.

    NumPy makes an array of a Python number, computes in the dtype of both and casts back,
    whatever is lost: integers may meet in float64, and an extreme may not fit.
    """
    ranks = RANK | {"u": 1, "i": 1}
    if ranks[value.dtype.kind] > ranks[target.kind]:
        return False
    if target.kind not in "iu" or value.dtype.kind == "b":
        return True
    known, (low, high) = constant_of(value), limits(target)
    if isinstance(known, int) and not low <= known <= high:
        return False
    loop = promote(target, strengthen(value.dtype))
    if combine in ("max", "min") and not isinstance(known, int):
        return loop.name == target.name
    return loop.kind in "iu"


def _target(call: Call) -> Array:
    array, given = call.array("a"), call.value("indices")
    items = list(given) if isinstance(given, tuple) else [given]
    target = index_array(call.b, array, items, target=True)
    if target.mask is not None:
        raise call.refuse("PRT905", f"`{call.name}` with a mask as index is not supported",
                          "use `a[mask] += b`, since no element is selected twice")  # fmt: skip
    return target


def _apart(call: Call, target: Array, value: Operand) -> Operand:
    """The values as they were before the first update."""
    probe = as_array(value).at([sym(f"?{d}", True) for d in range(as_array(value).ndim)])
    if target.view is None or not reads(probe, target.view.buffer):
        return value
    return call.b.define("held", as_array(value))


def _spread_nan(call: Call, target: Array, value: Operand) -> None:
    """NumPy's extremes are NaN where any value is; the atomic ones leave a NaN out."""
    source = as_array(value)

    def is_nan(idx: Sequence[Poly]) -> ir.Expr:
        return operate("isnan", source.at(aligned(source.shape, idx)))

    nan = Array(target.shape, target.dtype, target.at, target.view, is_nan)
    store(call.b, nan, number(math.nan), f"`{call.name}`", "same")


for _name, _combine in {
    "add": "add", "subtract": "add", "maximum": "max", "minimum": "min",
    "bitwise_and": "band", "bitwise_or": "bor", "bitwise_xor": "bxor",
}.items():  # fmt: skip
    _at(_name, _combine)
