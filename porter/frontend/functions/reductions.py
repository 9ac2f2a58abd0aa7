"""Reductions: every one is a fold of the IR and, where needed, a formula around it."""

from __future__ import annotations

from collections.abc import Sequence

from porter.arrays.dtypes import BOOL, INT64, WEAK_BOOL, DType, promote, strengthen
from porter.arrays.sizes import Poly
from porter.frontend.calculus import (
    ONE,
    Operand,
    accumulator,
    as_array,
    count,
    elementwise,
    index_value,
    map_arrays,
    normal_axis,
    reduce,
)
from porter.frontend.functions.registry import Call, function
from porter.frontend.scalars import cast, cast_bool, choose, integer, number, operate, part_of
from porter.frontend.values import NONE, Array, Value
from porter.ir.nodes import Check, Expr, Select

_KEYS = "a axis=None dtype=None keepdims=False"


def _axes(call: Call, array: Array) -> list[int] | None:
    axes = call.axes()
    if axes is None:
        return None
    return sorted(normal_axis(call.b, a, array.ndim, f"`{call.name}`") for a in axes)


def _keep(call: Call) -> bool:
    return bool(call.constant("keepdims"))


def _fold(call: Call, op: str, dtype: DType) -> Operand:
    array = call.array("a")
    return reduce(
        call.b, op, array, _axes(call, array), _keep(call), dtype, lambda e: cast(e, dtype)
    )


@function("numpy.sum", _KEYS)
def _sum(call: Call) -> Value:
    return _fold(call, "sum", call.dtype() or accumulator(call.array("a").dtype))


@function("builtins.sum", "iterable start=0")
def _python_sum(call: Call) -> Value:
    """`start + x[0] + x[1] + ...`: rows are added, and integers wrap in their own dtype."""
    array = call.array("iterable")
    if not array.ndim:
        raise call.refuse("PRT903", "`sum` of a scalar")
    start = call.operand("start") if call.value("start") != 0 else integer(0)
    dtype = strengthen(promote(array.dtype, start.dtype))
    total = reduce(call.b, "sum", array, [0], False, dtype, lambda e: cast(e, dtype))
    return total if start == integer(0) else elementwise(call.b, "add", start, total)


@function("numpy.prod", _KEYS)
def _prod(call: Call) -> Value:
    return _fold(call, "prod", call.dtype() or accumulator(call.array("a").dtype))


def _nonempty(call: Call, array: Array, axes: list[int] | None) -> None:
    """NumPy raises ValueError for the extreme of nothing."""
    for d in range(array.ndim) if axes is None else axes:
        n = call.b.resolve(array.shape[d])
        if not n.is_positive():
            message = f"zero-size array to reduction operation {call.name.split('.')[-1]}"
            call.b.check(Check("index", ONE, n, message + " which has no identity"))


def _extreme(op: str) -> None:
    names = f"numpy.{op} numpy.a{op}"

    @function(names, "a axis=None keepdims=False")
    def body(call: Call) -> Value:
        array = call.array("a")
        if array.dtype.kind == "c" or array.mask is not None:
            raise call.refuse("PRT907", f"`{op}` of complex numbers or of a masked selection")
        axes = _axes(call, array)
        _nonempty(call, array, axes)
        return reduce(call.b, op, array, axes, _keep(call), strengthen(array.dtype))


_extreme("max")
_extreme("min")


@function("numpy.ptp", "a axis=None keepdims=False")
def _ptp(call: Call) -> Value:
    array = call.array("a")
    axes = _axes(call, array)
    _nonempty(call, array, axes)
    high, low = (reduce(call.b, op, array, axes, _keep(call), array.dtype) for op in ("max", "min"))
    return elementwise(call.b, "sub", high, low)


def _test(op: str) -> None:
    @function(f"numpy.{op}", "a axis=None keepdims=False")
    def body(call: Call) -> Value:
        array = call.array("a")
        axes = _axes(call, array)
        return reduce(call.b, op, array, axes, _keep(call), BOOL, lambda e: cast(_bool(e), BOOL))

    @function(f"builtins.{op}", "iterable")
    def python(call: Call) -> Value:
        array = call.array("iterable")
        if array.ndim != 1:
            raise call.refuse("PRT902", f"`{op}` of the rows of an array is ambiguous",
                              f"use np.{op}")  # fmt: skip
        return reduce(call.b, op, array, None, False, WEAK_BOOL,
                      lambda e: cast(_bool(e), WEAK_BOOL))  # fmt: skip


def _bool(e: Expr) -> Expr:
    return e if e.dtype.kind == "b" else cast_bool(e)


_test("any")
_test("all")


@function("numpy.count_nonzero", "a axis=None keepdims=False")
def _count_nonzero(call: Call) -> Value:
    array = call.array("a")
    axes = _axes(call, array)
    return reduce(call.b, "sum", array, axes, _keep(call), INT64, lambda e: cast(_bool(e), INT64))


def _argument(op: str) -> None:
    @function(f"numpy.{op}", "a axis=None keepdims=False")
    def body(call: Call) -> Value:
        array = call.array("a")
        if array.dtype.kind == "c" or array.mask is not None:
            raise call.refuse("PRT907", f"`{op}` of complex numbers or of a masked selection")
        axes = _axes(call, array)
        _nonempty(call, array, axes)
        return _first_where(call, array, axes, op.removeprefix("arg"))


def _first_where(call: Call, array: Array, axes: list[int] | None, op: str) -> Operand:
    """The first position of the extreme (of a NaN, if there is one): a minimum of positions."""
    b = call.b
    best = reduce(b, op, array, axes, True, strengthen(array.dtype))
    size = ONE
    for d in range(array.ndim) if axes is None else axes:
        size *= b.resolve(array.shape[d])

    def at(idx: Sequence[Poly]) -> Expr:
        value, top = array.at(idx), as_array(best).at(idx)
        hit = operate("eq", value, top)
        if array.dtype.kind == "f":
            hit = operate("or", hit, operate("isnan", value))
        position = Poly()
        for d in range(array.ndim) if axes is None else axes:
            position = position * b.resolve(array.shape[d]) + idx[d]
        return Select(hit, index_value(position), index_value(size), INT64)

    positions = Array(array.shape, INT64, at)
    return reduce(b, "min", positions, axes, _keep(call), INT64)


_argument("argmax")
_argument("argmin")


def mean_of(call: Call, array: Array, axes: list[int] | None, keep: bool) -> Operand:
    """The mean over the axes: floats in their own dtype, integers in float64."""
    dtype = strengthen(array.dtype if array.dtype.kind in "fc" else DType("float64"))
    total = reduce(call.b, "sum", array, axes, keep, dtype, lambda e: cast(e, dtype))
    return elementwise(call.b, "truediv", total, cast(count(call.b, array, axes), dtype))


@function("numpy.mean", "a axis=None keepdims=False")
def _mean(call: Call) -> Value:
    array = call.array("a")
    return mean_of(call, array, _axes(call, array), _keep(call))


def variance(call: Call) -> Operand:
    """The mean squared distance from the mean, with `ddof`: two passes, as NumPy."""
    array = call.array("a")
    axes = _axes(call, array)
    if array.mask is not None:
        raise call.refuse("PRT901", f"`{call.name}` of a masked selection")
    mean = mean_of(call, array, axes, True)
    gap = elementwise(call.b, "sub", array, mean)
    square = elementwise(call.b, "abs", gap) if gap.dtype.kind == "c" else gap
    squares = as_array(elementwise(call.b, "pow", square, integer(2)))
    total = reduce(call.b, "sum", squares, axes, _keep(call), squares.dtype)
    n = operate("sub", count(call.b, array, axes), integer(int(call.constant("ddof"))))
    # NumPy divides by max(n - ddof, 0)
    n = operate("maximum", n, integer(0))
    return elementwise(call.b, "truediv", total, cast(n, part_of(strengthen(total.dtype))))


@function("numpy.var", "a axis=None ddof=0 keepdims=False")
def _var(call: Call) -> Value:
    return variance(call)


@function("numpy.std", "a axis=None ddof=0 keepdims=False")
def _std(call: Call) -> Value:
    return elementwise(call.b, "sqrt", variance(call))


@function("numpy.average", "a axis=None weights=None")
def _average(call: Call) -> Value:
    array = call.array("a")
    axes = _axes(call, array)
    if call.value("weights") is NONE:
        return mean_of(call, array, axes, False)
    weights = call.array("weights")
    if weights.ndim != array.ndim:
        raise call.refuse("PRT901", "`average` with weights of another shape than the array")
    product = as_array(elementwise(call.b, "mul", array, weights))
    dtype = (
        promote(product.dtype, DType("float64")) if product.dtype.kind in "iub" else product.dtype
    )
    total, scale = (
        reduce(call.b, "sum", a, axes, False, dtype, lambda e: cast(e, dtype))
        for a in (product, weights)
    )
    return elementwise(call.b, "truediv", total, scale)


def _nan_fold(name: str, op: str, neutral: float) -> None:
    @function(f"numpy.{name}", _KEYS)
    def body(call: Call) -> Value:
        array = call.array("a")
        dtype = call.dtype() or accumulator(array.dtype)
        axes = _axes(call, array)

        def change(e: Expr) -> Expr:
            if e.dtype.kind not in "fc":
                return cast(e, dtype)
            return cast(choose(operate("isnan", e), cast(number(neutral), e.dtype), e), dtype)

        return reduce(call.b, op, array, axes, _keep(call), dtype, change)


_nan_fold("nansum", "sum", 0.0)
_nan_fold("nanprod", "prod", 1.0)


@function("builtins.max builtins.min", "*values")
def _builtin_extreme(call: Call) -> Value:
    given = call.value("values")
    if len(given) == 1 and isinstance(given[0], tuple):
        given = given[0]
    values = [call.ev.as_numeric(v, call.node) for v in given]
    op = call.name.split(".")[-1]
    if len(values) == 1:
        array = as_array(values[0])
        if array.ndim != 1:
            raise call.refuse("PRT903", f"`{op}` of an array with {array.ndim} dimensions")
        _nonempty(call, array, None)
        return reduce(call.b, op, array, None, False, array.dtype)
    result = values[0]
    for v in values[1:]:
        result = _python_extreme(call, op, result, v)
    return result


def _python_extreme(call: Call, op: str, x: Operand, y: Operand) -> Operand:
    """`max(x, y)`: y if y > x else x (so that NaN behaves as in Python)."""
    if (isinstance(x, Array) and x.ndim) or (isinstance(y, Array) and y.ndim):
        raise call.refuse("PRT902", f"`{op}` of arrays is ambiguous", f"use np.{op}imum")

    def pick(u: Expr, v: Expr) -> Expr:
        if u.dtype.weak and v.dtype.weak and u.dtype.kind == v.dtype.kind == "i":
            return operate("maximum" if op == "max" else "minimum", u, v)
        return choose(operate("gt" if op == "max" else "lt", v, u), v, u)

    return map_arrays(call.b, pick, [x, y], f"`{op}`")
