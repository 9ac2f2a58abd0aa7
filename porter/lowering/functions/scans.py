"""Running folds: element i of the result is a fold of the elements up to and including i.

No node of their own is needed for them: `np.cumsum(x)[i]` is the sum of `x[k]` over
`k < i + 1`.  The plan recognises such a fold (`analyses/scans.py`) and computes it in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, DType, strengthen
from porter.ir.scalars import cast, number
from porter.ir.walk import walk
from porter.lowering.arrays.calculus import accumulator, normal_axis
from porter.lowering.arrays.rearrange import reshape
from porter.lowering.functions.reductions import as_bool, without_nan
from porter.lowering.functions.registry import Call, function
from porter.lowering.state.builder import Builder
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, sym

Change = Callable[[ir.Expr], ir.Expr]


def running(b: Builder, op: str, array: Array, axis: int, dtype: DType, change: Change) -> Array:
    """The fold of `change(element)` as `dtype` along the axis, stored: never computed again."""
    probe = array.at([sym(f"?{d}", True) for d in range(array.ndim)])
    if any(isinstance(e, ir.Reduce) for e in walk(probe)):
        array = b.define("terms", array)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = ir.Axis(b.out.fresh("k_"), idx[axis] + 1)
        place = [sym(k.name, True) if d == axis else i for d, i in enumerate(idx)]
        return ir.Reduce(op, (k,), change(array.at(place)), dtype)

    return b.temporary("running", Array(array.shape, dtype, at))


def _along(call: Call, name: str = "a") -> tuple[Array, int]:
    """The array and the axis; all elements in row-major order if the axis is None."""
    array = call.array(name)
    axis = call.constant("axis")
    if axis is None or not array.ndim:
        return array if array.ndim == 1 else reshape(call.b, array, (Poly.of(-1),)), 0
    return array, normal_axis(call.b, int(axis), array.ndim, f"`{call.name}`")


def _sums(name: str, op: str, parameters: str = "a axis=None", nan: float | None = None) -> None:
    """Running sums or products; `nan` is what stands in for a NaN, if anything."""

    @function(f"numpy.{name}", f"{parameters} dtype=None")
    def body(call: Call) -> Value:
        array, axis = _along(call, parameters.split()[0])
        if nan is not None:
            array = without_nan(array, number(nan))
        dtype = call.dtype() or accumulator(array.dtype)
        return running(call.b, op, array, axis, dtype, lambda e: cast(e, dtype))


for _op, _ufunc, _neutral in (("sum", "add", 0.0), ("prod", "multiply", 1.0)):
    _sums(f"cum{_op}", _op)
    _sums(f"cumulative_{_op}", _op, "x axis=None")
    _sums(f"nancum{_op}", _op, nan=_neutral)
    _sums(f"{_ufunc}.accumulate", _op, "array axis=0")


def _accumulate(name: str, op: str) -> None:
    @function(f"numpy.{name}.accumulate", "array axis=0 dtype=None")
    def body(call: Call) -> Value:
        array, axis = _along(call, "array")
        if call.value("dtype") is not NONE:
            raise call.refuse(
                "PRT901",
                f"the keyword `dtype` of `{name}.accumulate` is not supported",
                "use `astype`",
            )
        if op in ("any", "all"):
            return running(call.b, op, array, axis, BOOL, as_bool)
        if array.dtype.kind == "c":
            raise call.refuse("PRT907", f"`{name}.accumulate` of complex numbers is not supported")
        return running(call.b, op, array, axis, strengthen(array.dtype), lambda e: e)


_accumulate("maximum", "max")
_accumulate("minimum", "min")
_accumulate("logical_or", "any")
_accumulate("logical_and", "all")
