"""Whether arrays are equal, exactly or within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, WEAK_BOOL, WEAK_FLOAT, promote
from porter.ir.scalars import cast, integer, number, operate
from porter.lowering.arrays.calculus import Operand, as_array, map_arrays, reduce
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly, minimum

_CLOSE = "a b rtol=1e-05 atol=1e-08 equal_nan=False"


def close(call: Call) -> Operand:
    """abs(a - b) <= atol + rtol * abs(b), and equal infinities; NaN only if `equal_nan`."""
    rtol, atol = (number(float(call.constant(n))) for n in ("rtol", "atol"))
    nan = bool(call.constant("equal_nan"))

    def test(x: ir.Expr, y: ir.Expr) -> ir.Expr:
        # NumPy makes floats of integers: the least one has no absolute value
        y = cast(y, promote(y.dtype, WEAK_FLOAT))
        gap = operate("abs", operate("sub", x, y))
        bound = operate("add", atol, operate("mul", rtol, operate("abs", y)))
        near = operate("and", operate("le", gap, bound), operate("isfinite", y))
        result = operate("or", near, operate("eq", x, y))
        if nan:
            result = operate("or", result, operate("and", operate("isnan", x), operate("isnan", y)))
        return cast(result, BOOL)

    return map_arrays(call.b, test, [call.operand("a"), call.operand("b")], "`isclose`")


@function("numpy.isclose", _CLOSE)
def _isclose(call: Call) -> Value:
    return close(call)


@function("numpy.allclose", _CLOSE)
def _allclose(call: Call) -> Value:
    return reduce(call.b, "all", as_array(close(call)), None, False, WEAK_BOOL,
                  lambda e: cast(e, WEAK_BOOL))  # fmt: skip


@function("numpy.array_equal", "a1 a2 equal_nan=False")
def _array_equal(call: Call) -> Value:
    """Shapes are compared first; elements as far as both arrays reach."""
    x, y = call.array("a1"), call.array("a2")
    if x.ndim != y.ndim:
        return ir.Const(False, WEAK_BOOL)
    if call.constant("equal_nan"):
        raise call.refuse("PRT901", "the keyword `equal_nan` of `array_equal` is not supported")
    call.b.dtypes.same_dtype(x.dtype, y.dtype)
    sizes = [
        (call.b.sizes.resolve(n), call.b.sizes.resolve(m))
        for n, m in zip(x.shape, y.shape, strict=True)
    ]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return cast(operate("eq", x.at(idx), y.at(idx)), WEAK_BOOL)

    common = Array(tuple(n if n == m else minimum(n, m) for n, m in sizes), BOOL, at)
    same = reduce(call.b, "all", common, None, False, WEAK_BOOL)
    result = as_array(same).at(())
    for n, m in sizes:
        if n != m:
            result = operate("and", ir.Op("eq", (integer(n), integer(m)), WEAK_BOOL), result)
    return result
