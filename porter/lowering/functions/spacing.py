"""Evenly spaced numbers: arange, linspace, logspace, geomspace."""

from __future__ import annotations

import math
from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import FLOAT64, INT64, DType, promote
from porter.ir.scalars import (
    cast,
    choose,
    constant_of,
    integer,
    number,
    on_host,
    operate,
    poly_of,
)
from porter.lowering.arrays.calculus import ONE, Operand, astype, elementwise, index_value
from porter.lowering.arrays.subscripts import host_size
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.joining import below
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, maximum


@function("numpy.arange", "start stop=None step=None dtype=None")
def _arange(call: Call) -> Value:
    """start + k * step: integers symbolically, floats with a length that the host computes."""
    start, stop, step = (call.value(n) for n in ("start", "stop", "step"))
    if stop is NONE:
        start, stop = integer(0), start
    step = integer(1) if step is NONE else step
    parts = [call.ev.as_numeric(v, call.node) for v in (start, stop, step)]
    scalars = [p.at(()) if isinstance(p, Array) and not p.ndim else p for p in parts]
    polys = [None if isinstance(p, Array) else _whole(p) for p in scalars]
    floats = any(p.dtype.kind == "f" for p in parts)
    dtype = call.dtype() or (FLOAT64 if floats else INT64)
    first, last, by = polys
    if first is None or last is None or by is None:
        return _of_floats(call, scalars, dtype)
    k = by.constant
    if not k:
        raise call.refuse(
            "PRT906",
            "the step of `arange` must be a nonzero constant",
            "write the step as a literal, or use `start + step * np.arange(n)`",
        )
    span = last - first if k > 0 else first - last
    length = span if abs(k) == 1 else (span + (abs(k) - 1)) // abs(k)
    return Array((length,), dtype, lambda idx: cast(index_value(first + idx[0] * k), dtype))


def _whole(e: ir.Expr) -> Poly | None:
    """An integer expression, a float literal without a fraction included."""
    known = constant_of(e)
    if isinstance(known, float) and known.is_integer():
        return Poly.of(int(known))
    return poly_of(e)


def _of_floats(call: Call, parts: Sequence[Operand], dtype: DType) -> Array:
    """ceil((stop - start) / step) elements, counted here or on the host."""
    if any(isinstance(p, Array) for p in parts):
        raise call.refuse("PRT906", "`arange` is given an array", "pass numbers, such as `x.size`")
    start, stop, step = (p for p in parts if not isinstance(p, Array))
    if dtype.kind not in "f" or not all(map(on_host, (start, stop, step))):
        raise call.refuse("PRT906", "the length of this `arange` depends on the data",
                          "use `np.linspace`, or `start + step * np.arange(n)`")  # fmt: skip
    count = operate("ceil", operate("truediv", operate("sub", stop, start), step))
    known = [constant_of(e) for e in (start, stop, step)]
    if all(isinstance(k, (int, float)) for k in known):
        low, high, by = (float(k.real) for k in known if k is not None)
        if not by:
            raise call.refuse(
                "PRT903", "the step of `arange` must not be zero", "pass a nonzero step"
            )
        length = Poly.of(max(math.ceil((high - low) / by), 0))
    elif call.b.out.depth:
        raise call.refuse(
            "PRT906",
            "`arange` with a float step is not supported in a loop",
            "use `start + step * k`",
        )
    else:
        name = call.b.out.fresh("count")
        call.b.let(name, cast(count, integer(0).dtype))
        length = host_size(name)
    # NumPy takes the step as the difference of the first two elements
    second = operate("add", start, step)
    gap = operate("sub", cast(second, dtype), cast(start, dtype))

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return evenly(idx[0], gap, cast(start, dtype), dtype, first=True)

    return Array((length,), dtype, at)


def evenly(k: Poly, step: ir.Expr, start: ir.Expr, dtype: DType, *, first: bool = False) -> ir.Expr:
    """start + k * step with both roundings of NumPy: such numbers are the limits of bins.

    `first` says that the start is written first.
    """
    along = operate("mul", cast(index_value(k), dtype), step)
    if constant_of(start) != 0:
        along = operate("rounded", along)
    return operate("add", *((start, along) if first else (along, start)))


@function("numpy.linspace", "start stop num=50 endpoint=True retstep=False dtype=None")
def _linspace(call: Call) -> Value:
    """start + i * step; the last element is `stop` itself, as NumPy makes it."""
    start, stop = (call.operand(n) for n in ("start", "stop"))
    if isinstance(start, Array) or isinstance(stop, Array):
        raise call.refuse("PRT901", "`linspace` between arrays is not supported")
    num = shape_of(call, integer(call.value("num")) if isinstance(call.value("num"), int)
                   else call.value("num"))[0]  # fmt: skip
    closed = bool(call.constant("endpoint"))
    dtype = promote(promote(start.dtype, stop.dtype), FLOAT64)
    gap = operate("sub", cast(stop, dtype), cast(start, dtype))
    steps = integer(maximum(num - 1 if closed else num, ONE))
    step = operate("truediv", gap, cast(steps, dtype))

    def at(idx: Sequence[Poly]) -> ir.Expr:
        i = idx[0]
        value = evenly(i, step, cast(start, dtype), dtype)
        if closed:
            last = ir.Op("and", (
                ir.Op("eq", (index_value(i), index_value(num - 1)), DType("bool")),
                ir.Op("gt", (index_value(num), index_value(ONE)), DType("bool")),
            ), DType("bool"))  # fmt: skip
            value = choose(last, cast(stop, dtype), value)
        return value

    array: Operand = Array((num,), dtype, at)
    wanted = call.dtype()
    if wanted is not None and wanted.kind in "iu":
        array = elementwise(call.b, "floor", array)
    result = astype(array, wanted) if wanted else array
    return (result, step) if "retstep" in call.arguments and call.constant("retstep") else result


@function("numpy.logspace", "start stop num=50 endpoint=True base=10 dtype=None")
def _logspace(call: Call) -> Value:
    """base ** linspace(start, stop)."""
    wanted, base = call.dtype(), call.value("base")
    exponents = _exponents(call, {})
    factor = number(10.0) if base == 10 else call.operand("base")
    powers = elementwise(call.b, "pow", factor, exponents)
    return astype(powers, wanted) if wanted else powers


def _exponents(call: Call, changed: dict[str, ir.Expr]) -> Array:
    arguments = call.arguments | changed | {"dtype": NONE}
    found = _linspace(Call(call.ev, call.name, arguments, call.node))
    assert isinstance(found, Array)
    return found


@function("numpy.geomspace", "start stop num=50 endpoint=True dtype=None")
def _geomspace(call: Call) -> Value:
    """Powers between the logarithms of the ends, which are themselves exact."""
    ends = [call.operand(n) for n in ("start", "stop")]
    if any(isinstance(e, Array) or e.dtype.kind == "c" for e in ends):
        raise call.refuse(
            "PRT901", "`geomspace` between arrays or complex numbers is not supported"
        )
    start, stop = (cast(e, FLOAT64) for e in ends if not isinstance(e, Array))
    sign = operate("sign", start)
    logs = {n: operate("log10", operate("abs", e)) for n, e in (("start", start), ("stop", stop))}
    inner = _exponents(call, logs)
    n, closed = inner.shape[0], bool(call.constant("endpoint"))

    def at(idx: Sequence[Poly]) -> ir.Expr:
        value = operate("mul", operate("pow", number(10.0), inner.at(idx)), sign)
        if closed:
            value = choose(below(idx[0], n - 1), value, stop)
        return choose(below(idx[0], ONE), start, value)

    result = Array((n,), FLOAT64, at)
    wanted = call.dtype()
    return astype(result, wanted) if wanted else result
