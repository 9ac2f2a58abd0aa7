"""Histograms: every element finds its bin and adds to it.

The rules are those of `numpy/lib/_histograms_impl.py`: edges as `linspace` makes them, the
position by multiplication and then corrected by the edges, the last bin closed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from porter import ir
from porter.dtypes.dtype import BOOL, FLOAT64, INT64, WEAK_INT, DType, promote, strengthen
from porter.ir.scalars import cast, choose, constant_of, integer, number, operate
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    astype,
    elementwise,
    full,
    index_value,
    map_arrays,
    reduce,
)
from porter.lowering.arrays.compaction import fetched
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.spacing import evenly
from porter.lowering.state.builder import Builder
from porter.resolve.values import NONE, Array, Text, Value
from porter.sizes.polynomial import Data, Integer, Poly, maximum, sym
from porter.sizes.shapes import lengths, product


@dataclass
class _Bins:
    """The bins of one histogram: their number, their edges, and the limits of the values."""

    b: Builder
    count: Poly
    edges: Array
    first: ir.Expr
    last: ir.Expr
    uniform: bool

    def edge(self, k: ir.Expr, shift: int = 0) -> ir.Expr:
        """The edge with the number that a variable holds; it is in bounds."""
        here = Poly.atom(Data(k, nonneg=True, inside=True)) + shift
        return self.edges.at([here])

    def search(self, x: ir.Expr, name: str) -> list[ir.Stmt]:
        """The statements that leave the number of the bin of x in a variable."""
        bin_, origin = ir.Local(name, INT64), self.b.place.origin
        back = ir.Let(name, operate("sub", bin_, cast(integer(1), INT64)), origin)
        on = ir.Let(name, operate("add", bin_, cast(integer(1), INT64)), origin)
        at_end = operate("eq", bin_, index_value(self.count))
        if not self.uniform:
            k = ir.Axis(self.b.out.fresh("k_"), self.count + 1)
            below = _in_order(self.edges.at([sym(k.name, True)]), x)
            found = ir.Reduce("sum", (k,), cast(below, INT64), INT64)
            return [ir.Let(name, found, origin), back, ir.If(at_end, (back,), (), origin)]
        value = cast(x, self.edges.dtype)
        # NumPy divides in float64 where the limits are Python numbers; what that changes in
        # the last digits, the edges put right
        width = cast(operate("sub", self.last, self.first), self.edges.dtype)
        position = operate("truediv", operate("sub", value, self.first), width)
        scaled = operate("mul", position, integer(self.count))
        inner = operate("lt", bin_, index_value(self.count - 1))
        return [
            ir.Let(name, cast(scaled, INT64), origin),
            ir.If(at_end, (back,), (), origin),
            # rounding may have moved a value across the edge beside it
            ir.If(operate("lt", value, self.edge(bin_)), (back,), (), origin),
            ir.If(
                inner,
                (ir.If(operate("ge", value, self.edge(bin_, 1)), (on,), (), origin),),
                (),
                origin,
            ),
        ]


def _bins(call: Call, a: Array) -> _Bins:
    given = call.value("bins")
    if isinstance(given, Text):
        raise call.refuse("PRT901", f"`{call.name}` with `bins` given by name is not supported",
                          "give the number of bins, or their edges")  # fmt: skip
    if isinstance(given, (Array, tuple)):
        return _explicit(call, a)
    b = call.b
    count = b.sizes.resolve(
        Poly.of(given) if isinstance(given, int) else call.ev.size(given, call.node)
    )
    if not count.is_positive():
        b.sizes.check(ir.Check("index", ONE, count, "`bins` must be positive, when an integer"))
    limits = _given_limits(call) if call.value("range") is not NONE else _found_limits(call, a)
    first, last, kind = limits
    dtype = promote(promote(first.dtype, last.dtype), a.dtype)
    dtype = FLOAT64 if dtype.kind in "iub" else strengthen(dtype)
    edges = b.define("edges", _spaced(first, last, count, kind))
    _raise_if(b, _any(b, edges, count, "ge"), "Too many bins for data range")
    if dtype.name != edges.dtype.name or dtype.var != edges.dtype.var:
        # they stay stored as NumPy computes them, and are rounded where they are read
        edges = astype_array(edges, dtype)
    return _Bins(b, count, edges, first, last, True)


def astype_array(array: Array, dtype: DType) -> Array:
    """An array in another dtype."""
    result = astype(array, dtype)
    assert isinstance(result, Array)
    return result


def _explicit(call: Call, a: Array) -> _Bins:
    edges = call.array("bins")
    if edges.ndim != 1:
        raise call.refuse("PRT903", "`bins` must be 1-D when it is an array")
    if call.value("range") is not NONE:
        raise call.refuse(
            "PRT901",
            "`range` cannot be combined with an array of bin edges",
            "remove the keyword `range`",
        )
    b = call.b
    b.dtypes.same_dtype(a.dtype, edges.dtype)
    edges = edges if edges.view is not None else b.define("edges", edges)
    count = b.sizes.resolve(edges.shape[0]) - 1
    k = ir.Axis(b.out.fresh("k_"), count)
    i = sym(k.name, True)
    order = ir.Reduce("all", (k,), _in_order(edges.at([i]), edges.at([i + 1])), BOOL)
    message = "`bins` must increase monotonically, when an array"
    _raise_if(b, operate("not", order), message)
    return _Bins(b, count, edges, edges.at([Poly()]), edges.at([count]), False)


def _in_order(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    """Whether y may stand after x where NaN comes last, as NumPy sorts."""
    found = _compared("le", x, y)
    return operate("or", found, operate("isnan", y)) if y.dtype.kind == "f" else found


def _any(b: Builder, edges: Array, count: Poly, op: str) -> ir.Expr:
    """Whether a comparison holds between any edge and the next one."""
    k = ir.Axis(b.out.fresh("k_"), count)
    i = sym(k.name, True)
    return ir.Reduce("any", (k,), operate(op, edges.at([i]), edges.at([i + 1])), BOOL)


def _raise_if(b: Builder, cond: ir.Expr, message: str) -> None:
    known = constant_of(cond)
    if known is None or known:
        text = f'raise ValueError("{message}")'
        raising = ir.Host(text, b.place.origin, ir.HostKind.RAISE)
        b.out.emit(ir.If(cond, (raising,), (), b.place.origin))


def _given_limits(call: Call) -> tuple[ir.Expr, ir.Expr, DType]:
    """The limits that the user gives, and the dtype that the edges are computed in."""
    given = call.value("range")
    if not isinstance(given, tuple) or len(given) != 2:
        raise call.refuse(
            "PRT903", "`range` must be two numbers", "pass two numbers: `range=(0.0, 1.0)`"
        )
    lo, hi = (call.ev.as_numeric(v, call.node) for v in given)
    if isinstance(lo, Array) or isinstance(hi, Array):
        raise call.refuse(
            "PRT903", "`range` must be two numbers", "pass two numbers: `range=(0.0, 1.0)`"
        )
    finite = operate("and", _finite(lo), _finite(hi))
    _raise_if(call.b, operate("not", finite), "supplied range is not finite")
    _raise_if(call.b, operate("gt", lo, hi), "max must be larger than min in range parameter.")
    return (*_widened(lo, hi), FLOAT64)


def _compared(op: str, x: ir.Expr, limit: ir.Expr) -> ir.Expr:
    """An element beside a limit: Python ints, too, that its dtype has no room for."""
    if x.dtype.kind in "iu" and limit.dtype.kind in "iu" and limit.dtype.weak:
        x, limit = cast(x, INT64), cast(limit, INT64)
    return operate(op, x, limit)


def _finite(e: ir.Expr) -> ir.Expr:
    return number(True) if e.dtype.kind in "iu" else operate("isfinite", e)


def _widened(lo: ir.Expr, hi: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Limits that are equal are moved apart by one half each."""
    equal = operate("eq", lo, hi)
    if constant_of(equal) is False:
        return lo, hi
    return (
        choose(equal, operate("sub", lo, number(0.5)), lo),
        choose(equal, operate("add", hi, number(0.5)), hi),
    )


def _found_limits(call: Call, a: Array) -> tuple[ir.Expr, ir.Expr, DType]:
    """The smallest and the largest value; 0 and 1 if there is none."""
    b = call.b
    dtype = strengthen(a.dtype) if a.dtype.kind == "f" else FLOAT64
    size = product(lengths(map(b.sizes.resolve, a.shape)))
    extremes: list[ir.Expr] = []
    for op, name, default in (("min", "smallest", 0), ("max", "largest", 1)):
        found = reduce(b, op, a, None, False, dtype, lambda e: cast(e, dtype))
        assert not isinstance(found, Array)
        empty = operate("eq", index_value(size), index_value(Poly()))
        value = ir.Select(empty, cast(integer(default), dtype), found, dtype)
        extremes.append(_held(b, name, value))
    if a.dtype.kind == "f":
        finite = operate("and", *map(_finite, extremes))
        _raise_if(b, operate("not", finite), "autodetected range is not finite")
    first, last = _widened(*extremes)
    return _held(b, "first", first), _held(b, "last", last), dtype


def _held(b: Builder, name: str, value: ir.Expr) -> ir.Expr:
    """A number of the device under a name."""
    return b.define(name, Array((), value.dtype, lambda _: value)).at(())


def _spaced(first: ir.Expr, last: ir.Expr, count: Poly, dtype: DType) -> Array:
    """`np.linspace(first, last, count + 1)`, whose last element is `last` itself."""
    start, stop = cast(first, dtype), cast(last, dtype)
    step = operate("truediv", operate("sub", stop, start), cast(integer(count), dtype))

    def at(idx: Sequence[Poly]) -> ir.Expr:
        value = evenly(idx[0], step, start, dtype)
        return choose(operate("eq", index_value(idx[0]), index_value(count)), stop, value)

    return Array((count + 1,), dtype, at)


def _counted(call: Call, a: Array, bins: _Bins) -> Array:
    """The number of values (or the sum of their weights) in each bin."""
    b, weights = call.b, None
    dtype = INT64
    if call.value("weights") is not NONE:
        weights = call.array("weights")
        if weights.ndim != a.ndim or weights.dtype.kind not in "iuf":
            raise call.refuse("PRT901", f"`{call.name}` with these `weights` is not supported")
        for have, want in zip(weights.shape, a.shape, strict=True):
            b.sizes.unify(want, have, "weights should have the same shape as a")
        dtype = FLOAT64
    hist = b.define("hist", full((bins.count,), integer(0), dtype))
    assert hist.view is not None
    axes = b.axes(a.shape)
    at = [sym(x.name, True) for x in axes]
    x, name = a.at(at), b.out.fresh("bin")
    inside = _compared("ge", x, bins.first), _compared("le", x, bins.last)
    if not bins.uniform:
        inside = _in_order(bins.first, x), _in_order(x, bins.last)
    keep = operate("and", *inside)
    place = Poly.atom(Data(ir.Local(name, INT64), nonneg=True, inside=True))
    term = cast(integer(1) if weights is None else weights.at(at), dtype)
    add = ir.Write(hist.view.buffer, (), (place,), term, b.place.origin, combine="add")
    stmt: ir.Stmt = ir.If(keep, (*bins.search(x, name), add), (), b.place.origin)
    for axis in reversed(axes):
        stmt = ir.For(axis.name, axis.lo, axis.hi, 1, (stmt,), b.place.origin)
    if not bins.uniform and not bins.count.is_positive():
        some = operate("gt", index_value(bins.count), index_value(Poly()))
        stmt = ir.If(some, (stmt,), (), b.place.origin)
    b.out.emit(stmt)
    if weights is None:
        return hist
    if weights.dtype.kind == "f" and not bins.uniform:
        hist = _differences(b, hist, bins, a, weights)
    return astype_array(hist, strengthen(weights.dtype))


def _differences(b: Builder, hist: Array, bins: _Bins, a: Array, weights: Array) -> Array:
    """The sums as NumPy has them: differences of running sums, NaN after one that is not finite.

    See `_histograms_impl.py`: `cw = sw.cumsum()`, then `np.diff` of its values at the edges.
    """

    def lower(value: ir.Expr, weight: ir.Expr) -> ir.Expr:
        return choose(
            _compared("lt", value, bins.first), cast(weight, FLOAT64), cast(integer(0), FLOAT64)
        )

    terms = map_arrays(b, lower, [a, weights], "weights")
    assert isinstance(terms, Array)
    below = reduce(b, "sum", terms, None, False, FLOAT64)
    assert not isinstance(below, Array)
    before = _held(b, "below", below)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = ir.Axis(b.out.fresh("k_"), idx[0])
        sums = ir.Reduce("sum", (k,), hist.at([sym(k.name, True)]), FLOAT64)
        total = operate("add", before, sums)
        return choose(operate("isfinite", total), hist.at(idx), cast(number(math.nan), FLOAT64))

    return Array(hist.shape, FLOAT64, at)


def _values(call: Call) -> Array:
    a = call.array("a")
    if a.dtype.kind not in "iuf" or a.dtype.name == "float16" or a.mask is not None:
        raise call.refuse(
            "PRT907", f"`{call.name}` of {a.dtype.name} or of a selection is not supported"
        )
    if not a.ndim or call.b.scope.ranges:
        raise call.refuse("PRT903", f"`{call.name}` of a scalar or inside a loop is not supported",
                          "compute the histogram of the whole array, outside the loop")  # fmt: skip
    return a if a.view is not None else call.b.define("values", a)


@function("numpy.histogram", "a bins=10 range=None density=None weights=None")
def _histogram(call: Call) -> Value:
    a = _values(call)
    bins = _bins(call, a)
    hist: Operand = _counted(call, a, bins)
    if call.value("density") is NONE or not call.constant("density"):
        return (hist, bins.edges)
    width = map_arrays(call.b, lambda e: cast(e, FLOAT64), [_widths(bins)], "`histogram`")
    total = reduce(call.b, "sum", hist, None, False, strengthen(hist.dtype))  # type: ignore[arg-type]
    ratio = elementwise(call.b, "truediv", hist, width)
    return (elementwise(call.b, "truediv", ratio, total), bins.edges)


def _widths(bins: _Bins) -> Array:
    edges = bins.edges

    def at(idx: Sequence[Poly]) -> ir.Expr:
        return operate("sub", edges.at([idx[0] + 1]), edges.at(idx))

    return Array((bins.count,), edges.dtype, at)


@function("numpy.histogram_bin_edges", "a bins=10 range=None weights=None")
def _histogram_bin_edges(call: Call) -> Value:
    return _bins(call, _values(call)).edges


@function("numpy.bincount", "x weights=None minlength=0")
def _bincount(call: Call) -> Value:
    """How often each number occurs; the host reads back how many numbers there are."""
    b, x = call.b, call.array("x")
    if x.ndim != 1 or x.dtype.kind not in "iub" or x.dtype.name == "uint64":
        raise call.refuse(
            "PRT907", f"`bincount` of a {x.ndim}-D array of {x.dtype.name} is not supported"
        )
    given = call.value("minlength")
    least = Poly.of(given) if isinstance(given, int) else call.ev.size(given, call.node)
    b.sizes.check(ir.Check("index", Poly(), least, "'minlength' must not be negative"))
    weights, dtype = None, INT64
    if call.value("weights") is not NONE:
        weights, dtype = call.array("weights"), FLOAT64
        if weights.ndim != 1 or weights.dtype.kind not in "iufb":
            raise call.refuse(
                "PRT907", f"`bincount` with weights of {weights.dtype.name} is not supported"
            )
        b.sizes.unify(
            x.shape[0], weights.shape[0], "The weights and list don't have the same length."
        )
        # the weights of nothing are counted in integers: another dtype for one size
        n = b.sizes.resolve(x.shape[0])
        if not n.is_positive():
            b.sizes.check(ir.Check("index", ONE, n, "`bincount` of nothing with weights"))
    x = x if x.view is not None else b.define("values", x)
    size = maximum(_length(b, x), least)
    counts = b.define("counts", full((size,), integer(0), dtype))
    assert counts.view is not None
    axes = b.axes(x.shape)
    at = [sym(axes[0].name, True)]
    place = Poly.atom(Data(_whole(x.at(at)), nonneg=True, inside=True))
    term = cast(integer(1) if weights is None else weights.at(at), dtype)
    b.out.emit(ir.Write(counts.view.buffer, axes, (place,), term, b.place.origin, combine="add"))
    return counts


def _whole(e: ir.Expr) -> ir.Expr:
    return cast(e, INT64) if e.dtype.kind == "b" else e


def _length(b: Builder, x: Array) -> Poly:
    """One more than the largest element, 0 if there is none. NumPy raises for negative ones.

    The host learns of them with the length: a pass over the array, and one number to read back.
    """
    size = b.sizes.resolve(x.shape[0])
    k = ir.Axis(b.out.fresh("k_"), size)
    value = x.at([sym(k.name, True)])
    # extremes of integers have no start: as floats, the largest of nothing is minus infinity
    smallest, largest = (
        ir.Reduce(op, (k,), cast(value, FLOAT64), FLOAT64) for op in ("min", "max")
    )
    found = operate("add", cast(largest, INT64), integer(1))
    empty = operate("eq", index_value(size), index_value(Poly()))
    found = choose(empty, cast(integer(0), INT64), found)
    if value.dtype.kind != "i":
        return fetched(b, found, "length", True)
    negative = operate("lt", smallest, number(0.0))
    length = fetched(b, choose(negative, cast(integer(-1), INT64), found), "length")
    below = operate("lt", ir.Value(length, WEAK_INT), integer(0))
    _raise_if(b, below, "'list' argument must have no negative elements")
    return Poly.atom(Integer(str(length.name), True))
