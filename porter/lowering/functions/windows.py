"""Sums over windows and powers: convolve, correlate, polyval, vander, sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import INT64, promote, strengthen
from porter.ir.scalars import cast, integer, operate
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    as_array,
    elementwise,
    normal_axis,
    reindex,
)
from porter.lowering.arrays.rearrange import along, readonly, settled
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Stride, Value
from porter.sizes.polynomial import Poly, maximum, minimum, sym


@function("numpy.convolve numpy.correlate", "a v mode=None")
def _convolve(call: Call) -> Value:
    """Element k of `full` is the sum of a[k - j] v[j]; `same` and `valid` are parts of it."""
    x, y = settled(call.b, call.array("a")), settled(call.b, call.array("v"))
    if x.ndim > 1 or y.ndim > 1 or not x.ndim or not y.ndim:
        raise call.refuse("PRT903", f"`{call.name}` requires two 1-D arrays")
    n, m = call.b.sizes.resolve(x.shape[0]), call.b.sizes.resolve(y.shape[0])
    for size in (n, m):
        if not size.is_positive():
            call.b.sizes.check(ir.Check("index", ONE, size, "an array cannot be empty"))
    slides = call.name == "numpy.correlate"
    mode = call.constant("mode") or ("valid" if slides else "full")
    if mode not in ("full", "same", "valid"):
        raise call.refuse("PRT901", f"`{call.name}` with the mode `{mode}` is not supported")
    if slides:
        if mode == "same" and not (n - m).is_nonneg():
            message = (
                "`correlate` in mode 'same' is converted for a second array that is not longer"
            )
            call.b.sizes.check(ir.Check("index", m, n, message))
        y = as_array(elementwise(call.b, "conj", along(y, 0, m, lambda j: m - 1 - j)))
    dtype = promote(strengthen(x.dtype), strengthen(y.dtype))
    call.b.dtypes.same_dtype(x.dtype, y.dtype)
    least, most = minimum(n, m), maximum(n, m)
    start = {"full": Poly(), "same": (least - 1) // 2, "valid": least - 1}[mode]
    length = {"full": n + m - 1, "same": most, "valid": most - least + 1}[mode]
    op = "any" if dtype.kind == "b" else "sum"

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = idx[0] + start
        axis = ir.Axis(call.b.out.fresh("j_"), minimum(m, k + 1), maximum(k - n + 1, 0))
        j = sym(axis.name, True)
        product = operate("mul", cast(x.at([k - j]), dtype), cast(y.at([j]), dtype))
        return ir.Reduce(op, (axis,), product, dtype)

    return Array((length,), dtype, at)


@function("numpy.polyval", "p x")
def _polyval(call: Call) -> Value:
    """Horner's scheme over coefficients whose number is known here."""
    given, x = call.array("p"), call.operand("x")
    count = given.shape[0].constant if given.ndim == 1 else None
    if count is None:
        raise call.refuse(
            "PRT906",
            "the number of coefficients of `polyval` is not known at conversion",
            "loop over the coefficients: `y = y * x + p[k]`",
        )
    result: Operand = integer(0)
    for k in range(count):
        product = elementwise(call.b, "mul", result, x)
        result = elementwise(call.b, "add", product, given.at([Poly.of(k)]))
    return result


@function("numpy.vander", "x N=None increasing=False")
def _vander(call: Call) -> Value:
    """Column j holds the powers of x."""
    x = settled(call.b, call.array("x"))
    if x.ndim != 1:
        raise call.refuse("PRT903", "`vander` requires a 1-D array")
    n = x.shape[0] if call.value("N") is NONE else call.ev.size(call.value("N"), call.node)
    n = call.b.sizes.resolve(n)
    rising = bool(call.constant("increasing"))
    dtype = promote(x.dtype, INT64)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        power = idx[1] if rising else n - 1 - idx[1]
        return operate("pow", cast(x.at(idx[:1]), dtype), cast(integer(power), dtype))

    return Array((x.shape[0], n), dtype, at)


@function("numpy.lib.stride_tricks.sliding_window_view", "x window_shape axis=None")
def _windows(call: Call) -> Value:
    """All windows: element (i, j) is the one at i + j. A view, read-only as NumPy's."""
    array, given, axes = call.array("x"), call.value("window_shape"), call.axes()
    widths = [call.ev.size(v, call.node) for v in (given if isinstance(given, tuple) else (given,))]
    axes = list(range(array.ndim)) if axes is None else [
        normal_axis(call.b, a, array.ndim, "`sliding_window_view`") for a in axes]  # fmt: skip
    if len(axes) != len(widths) or len(set(axes)) != len(axes):
        raise call.refuse("PRT903", "`sliding_window_view` requires a width for each axis")
    shape = list(array.shape)
    for axis, width in zip(axes, widths, strict=True):
        message = "window shape cannot be larger than input array shape"
        call.b.sizes.check(ir.Check("index", width, shape[axis], message))
        shape[axis] = shape[axis] - width + 1

    def back(idx: Sequence[Poly]) -> list[Poly]:
        at = list(idx[: array.ndim])
        for axis, j in zip(axes, idx[array.ndim :], strict=True):
            at[axis] = at[axis] + j
        return at

    windows = reindex(array, (*shape, *widths), back)
    return readonly(windows, "NumPy makes sliding windows read-only")


@function(
    "numpy.lib.stride_tricks.as_strided", "x shape=None strides=None subok=False writeable=True"
)
def _as_strided(call: Call) -> Value:
    """Axes that step along those of the array: element (i, j) of windows is the one at i + j.

    A view. It raises where it would reach beyond the array: NumPy reads memory of others there.
    """
    array = call.array("x")
    shape, steps = (_axes(call, name) for name in ("shape", "strides"))
    extents = array.shape if shape is None else [call.ev.size(v, call.node) for v in shape]
    along = list(range(array.ndim)) if steps is None else [_axis(call, array, s) for s in steps]
    if len(along) != len(extents):
        raise call.refuse("PRT903", "`as_strided` requires a stride for each axis of its shape")
    _stays_within(call, array, extents, along)

    def back(idx: Sequence[Poly]) -> list[Poly]:
        at = [Poly()] * array.ndim
        for axis, j in zip(along, idx, strict=True):
            at[axis] = at[axis] + j
        return at

    return readonly(reindex(array, tuple(extents), back), "several of its elements may be one")


def _stays_within(call: Call, array: Array, extents: Sequence[Poly], along: Sequence[int]) -> None:
    """Have the host test that axes of these extents, along those of the array, end inside it."""
    for n in extents:
        message = "negative dimensions are not allowed"
        call.b.sizes.check(ir.Check("index", Poly(), n, message))
    for axis, n in enumerate(array.shape):
        reach = [m - 1 for m, a in zip(extents, along, strict=True) if a == axis]
        needed = sum(reach, Poly.of(1))
        beyond = (needed - n).constant
        if beyond is not None and beyond > 0:
            raise call.refuse(
                "PRT903", "`as_strided` would reach beyond the array", "make its shape smaller"
            )
        message = "as_strided would reach beyond the array"
        call.b.sizes.check(ir.Check("index", needed, n, message))


def _axes(call: Call, name: str) -> tuple[Value, ...] | None:
    value = call.value(name)
    if value is NONE:
        return None
    return value if isinstance(value, tuple) else (value,)


def _axis(call: Call, array: Array, step: Value) -> int:
    """The axis that a stride is of. Refuses what is no stride of the array."""
    if not isinstance(step, Stride) or not _is_same(step.array, array):
        raise call.refuse(
            "PRT905",
            "the strides of `as_strided` are not those of its array",
            "take them from the array: `x.strides[0]`",
        )
    return step.axis


def _is_same(one: Array, other: Array) -> bool:
    """Whether two values are one array; what is computed is so only by its name."""
    views = one.view is not None and one.view == other.view and one.shape == other.shape
    return one is other or views
