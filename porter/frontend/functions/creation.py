"""Making arrays: zeros, full, arange, linspace, eye, copies and conversions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porter.arrays.dtypes import FLOAT64, INT64, DType, promote, strengthen
from porter.arrays.sizes import Poly, maximum
from porter.frontend.calculus import ONE, astype, full, index_value
from porter.frontend.functions.registry import PYTHON_TYPES, Call, function
from porter.frontend.scalars import cast, choose, integer, number, operate, poly_of, truth
from porter.frontend.values import NONE, Array, Text, Value
from porter.ir.nodes import Check, Expr, Op

EMPTY = "empty"


def shape_of(call: Call, value: Any) -> tuple[Poly, ...]:
    """A shape argument: an integer or a tuple of them."""
    items = value if isinstance(value, tuple) else (value,)
    sizes = tuple(call.b.resolve(call.ev.size(v, call.node)) for v in items)
    for n in sizes:
        if not n.is_nonneg() and n.constant != -1 and not call.b.ranges:
            call.b.check(Check("index", Poly(), n, "negative dimensions are not allowed"))
    return sizes


class Empty(Array):
    """An array without content yet: naming it allocates and stores nothing."""


def _constant_array(name: str, value: float) -> None:
    @function(f"numpy.{name}", "shape dtype=None order=None")
    def body(call: Call) -> Value:
        dtype = call.dtype() or FLOAT64
        return full(shape_of(call, call.value("shape")), number(value), dtype)

    @function(f"numpy.{name}_like", "a dtype=None order=None subok=True shape=None")
    def like(call: Call) -> Value:
        array = call.array("a")
        call.b.strict_shapes = True
        call.b.sized |= {n for p in array.shape for n in p.names()}
        return full(array.shape, number(value), call.dtype() or array.dtype)


_constant_array("zeros", 0.0)
_constant_array("ones", 1.0)


@function("numpy.empty", "shape dtype=None order=None")
@function("numpy.ndarray", "shape dtype=None")
def _empty(call: Call) -> Value:
    zeros = full(shape_of(call, call.value("shape")), number(0.0), call.dtype() or FLOAT64)
    return Empty(zeros.shape, zeros.dtype, zeros.at)


@function("numpy.empty_like", "a dtype=None order=None subok=True shape=None")
def _empty_like(call: Call) -> Value:
    array = call.array("a")
    call.b.strict_shapes = True
    call.b.sized |= {n for p in array.shape for n in p.names()}
    zeros = full(array.shape, number(0.0), call.dtype() or array.dtype)
    return Empty(zeros.shape, zeros.dtype, zeros.at)


def _filled(call: Call, shape: Sequence[Poly], default: DType) -> Array:
    value = call.operand("fill_value")
    dtype = call.dtype() or default
    if isinstance(value, Array):
        raise call.refuse("PRT901", f"`{call.name}` with an array to fill with")
    return full(shape, value, dtype)


@function("numpy.full", "shape fill_value dtype=None order=None")
def _full(call: Call) -> Value:
    value = call.operand("fill_value")
    return _filled(call, shape_of(call, call.value("shape")), strengthen(value.dtype))


@function("numpy.full_like", "a fill_value dtype=None order=None subok=True shape=None")
def _full_like(call: Call) -> Value:
    array = call.array("a")
    call.b.strict_shapes = True
    call.b.sized |= {n for p in array.shape for n in p.names()}
    return _filled(call, array.shape, array.dtype)


@function("numpy.arange", "start stop=None step=None dtype=None")
def _arange(call: Call) -> Value:
    start, stop, step = (call.value(n) for n in ("start", "stop", "step"))
    if stop is NONE:
        start, stop = integer(0), start
    step = integer(1) if step is NONE else step
    parts = [call.ev.as_numeric(v, call.node) for v in (start, stop, step)]
    polys = [None if isinstance(p, Array) else poly_of(p) for p in parts]
    first, last, by = polys
    if first is None or last is None or by is None:
        raise call.refuse("PRT906", "`arange` of floats: its length depends on rounding",
                          "use np.linspace, or start + step * np.arange(n)")  # fmt: skip
    k = by.constant
    if not k:
        raise call.refuse("PRT906", "the step of `arange` must be a nonzero constant")
    span = last - first if k > 0 else first - last
    length = span if abs(k) == 1 else (span + (abs(k) - 1)) // abs(k)
    dtype = call.dtype() or INT64
    return Array((length,), dtype, lambda idx: cast(index_value(first + idx[0] * k), dtype))


@function("numpy.linspace", "start stop num=50 endpoint=True dtype=None")
def _linspace(call: Call) -> Value:
    """start + i * step; the last element is `stop` itself, as NumPy makes it."""
    start, stop = (call.operand(n) for n in ("start", "stop"))
    if isinstance(start, Array) or isinstance(stop, Array):
        raise call.refuse("PRT901", "`linspace` between arrays")
    num = shape_of(call, integer(call.value("num")) if isinstance(call.value("num"), int)
                   else call.value("num"))[0]  # fmt: skip
    closed = bool(call.constant("endpoint"))
    dtype = promote(promote(start.dtype, stop.dtype), FLOAT64)
    gap = operate("sub", cast(stop, dtype), cast(start, dtype))
    steps = integer(maximum(num - 1 if closed else num, ONE))
    step = operate("truediv", gap, cast(steps, dtype))

    def at(idx: Sequence[Poly]) -> Expr:
        i = idx[0]
        value = operate(
            "add", operate("mul", cast(index_value(i), dtype), step), cast(start, dtype)
        )
        if closed:
            last = Op("and", (
                Op("eq", (index_value(i), index_value(num - 1)), DType("bool")),
                Op("gt", (index_value(num), index_value(ONE)), DType("bool")),
            ), DType("bool"))  # fmt: skip
            value = choose(last, cast(stop, dtype), value)
        return value

    array = Array((num,), dtype, at)
    wanted = call.dtype()
    return astype(array, wanted) if wanted else array


@function("numpy.eye numpy.identity", "N M=None k=0 dtype=None")
def _eye(call: Call) -> Value:
    rows = shape_of(call, call.value("N"))[0]
    columns = rows if call.value("M") is NONE else shape_of(call, call.value("M"))[0]
    k, dtype = int(call.constant("k")), call.dtype() or FLOAT64

    def at(idx: Sequence[Poly]) -> Expr:
        on = Op("eq", (index_value(idx[0] + k), index_value(idx[1])), DType("bool"))
        return choose(on, cast(integer(1), dtype), cast(integer(0), dtype))

    return Array((rows, columns), dtype, at)


@function("numpy.copy", "a order=None")
def _copy(call: Call) -> Value:
    array = call.operand("a")
    if not isinstance(array, Array):
        return array
    return Array(array.shape, array.dtype, array.at, mask=array.mask)


@function("numpy.array", "a dtype=None copy=True")
def _array(call: Call) -> Value:
    array = call.array("a")
    dtype = call.dtype() or array.dtype
    return Array(array.shape, dtype, lambda idx: cast(array.at(idx), dtype))


@function("numpy.asarray numpy.ascontiguousarray numpy.asanyarray", "a dtype=None")
def _asarray(call: Call) -> Value:
    """The array itself where it already has the dtype: still a view of the argument."""
    array = call.array("a")
    dtype = call.dtype()
    if dtype is None or dtype.name == array.dtype.name:
        if dtype is not None:
            # for another dtype of the argument it would be a copy
            call.b.pin(array.dtype)
        return array
    return astype(array, dtype)


def _python_type(name: str) -> None:
    @function(f"builtins.{name}", "x=0")
    def body(call: Call) -> Value:
        if isinstance(call.value("x"), Text):
            text = call.constant("x")
            return number({"int": int, "float": float}[name](text))
        x = call.operand("x")
        if isinstance(x, Array):
            x = _single(call, x)
        if name == "bool":
            return truth(x)
        if name == "int" and poly_of(x) is not None and x.dtype.kind in "iu":
            return integer(poly_of(x) or Poly())
        return cast(x, PYTHON_TYPES[name])


for _name in PYTHON_TYPES:
    if _name != "complex":
        _python_type(_name)


def _single(call: Call, array: Array) -> Expr:
    if array.ndim:
        raise call.refuse("PRT903", f"`{call.name}` of an array with {array.ndim} dimensions")
    return array.at(())


@function("builtins.complex", "real imag=0")
def _complex(call: Call) -> Value:
    real, imag = (call.operand(n) if not isinstance(call.value(n), int) else integer(call.value(n))
                  for n in ("real", "imag"))  # fmt: skip
    real, imag = (_single(call, v) if isinstance(v, Array) else v for v in (real, imag))
    return operate("add", real, operate("mul", imag, number(1j)))
