"""Positions in sorted arrays: searchsorted, digitize, interp; and membership: isin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, FLOAT64, INT64, DType, promote, strengthen
from porter.ir.scalars import cast, choose, integer, operate
from porter.lowering.arrays.calculus import ONE, Operand, as_array, map_arrays
from porter.lowering.arrays.elements import by_statements, first_not, known_position, named
from porter.lowering.arrays.rearrange import flat, settled
from porter.lowering.functions.registry import Call, function
from porter.lowering.state.builder import Builder
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly, sym


def _less(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    """x before y in sorted order: NaN comes last."""
    less = operate("lt", x, y)
    if x.dtype.kind != "f":
        return less
    return operate("or", less, operate("and", operate("ne", y, y), operate("eq", x, x)))


def _line(call: Call, name: str) -> Array:
    """A 1-D array that is searched: stored, since it is read at many places."""
    array = call.array(name)
    if array.ndim != 1:
        raise call.refuse("PRT903", f"`{call.name}` requires a 1-D array to search in")
    if array.dtype.kind == "c":
        raise call.refuse("PRT907", f"`{call.name}` in a complex array is not supported")
    return settled(call.b, array, "sorted")


def _common(call: Call, array: Array, value: Operand) -> DType:
    call.b.dtypes.same_dtype(array.dtype, value.dtype)
    return promote(array.dtype, strengthen(value.dtype))


@function("numpy.searchsorted", "a v side=left sorter=None")
def _searchsorted(call: Call) -> Value:
    """How many elements come before `v` (`left`), or not after it (`right`)."""
    array, side = _line(call, "a"), call.constant("side")
    if call.value("sorter") is not NONE or side not in ("left", "right"):
        raise call.refuse("PRT901", "`searchsorted` with `sorter` is not supported")
    values = as_array(call.operand("v"))
    dtype = _common(call, array, values)

    def element(idx: Sequence[Poly]) -> ir.Expr:
        v = cast(values.at(idx), dtype)

        v = named(call.b, "wanted", v)

        def before(k: Poly) -> ir.Expr:
            x = cast(array.at([k]), dtype)
            return _less(x, v) if side == "left" else operate("not", _less(v, x))

        return first_not(call.b, call.b.sizes.resolve(array.shape[0]), before)

    return by_statements(call.b, "position", values.shape, INT64, element)


@function("numpy.digitize", "x bins right=False")
def _digitize(call: Call) -> Value:
    """The bin of every value; bins may rise or fall."""
    bins, values = _line(call, "bins"), as_array(call.operand("x"))
    closed = bool(call.constant("right"))
    dtype, n = _common(call, bins, values), call.b.sizes.resolve(bins.shape[0])

    def element(idx: Sequence[Poly]) -> ir.Expr:
        v = cast(values.at(idx), dtype)
        v = named(call.b, "wanted", v)
        ends = [cast(bins.at([k]), dtype) for k in (Poly(), n - 1)]
        falls = _less(ends[1], ends[0])
        if not n.is_positive():
            some = operate("gt", cast(integer(n), INT64), cast(integer(0), INT64))
            falls = operate("and", some, falls)
        falls = call.b.let(call.b.out.fresh("falls"), falls)

        def before(k: Poly) -> ir.Expr:
            x = cast(bins.at([k]), dtype)
            rising = _less(x, v) if closed else operate("not", _less(v, x))
            return operate("ne", rising, falls)

        return first_not(call.b, n, before)

    return by_statements(call.b, "bin", values.shape, INT64, element)


@function("numpy.interp", "x xp fp left=None right=None period=None")
def _interp(call: Call) -> Value:
    """Linear between the points, constant beyond them: always float64."""
    if call.value("period") is not NONE:
        raise call.refuse(
            "PRT901",
            "`interp` with `period` is not supported",
            "reduce the coordinates first: `x % period`",
        )
    values, xs, fs = as_array(call.operand("x")), _line(call, "xp"), _line(call, "fp")
    if values.dtype.kind == "c":
        raise call.refuse("PRT907", "`interp` at complex coordinates is not supported")
    n = call.b.sizes.unify(xs.shape[0], fs.shape[0], "fp and xp are not of the same length")
    if not n.is_positive():
        call.b.sizes.check(ir.Check("index", ONE, n, "array of sample points is empty"))
    outside = [call.value(k) for k in ("left", "right")]

    def element(idx: Sequence[Poly]) -> ir.Expr:
        x = named(call.b, "at", cast(values.at(idx), FLOAT64))

        def at(array: Array, k: Poly) -> ir.Expr:
            return cast(array.at([k]), FLOAT64)

        k = first_not(call.b, n, lambda k: operate("not", _less(x, at(xs, k))))
        low, high = at(xs, Poly()), at(xs, n - 1)
        ends = [at(fs, Poly()), at(fs, n - 1)]
        left, right = (e if v is NONE else cast(_scalar(call, v), FLOAT64)
                       for v, e in zip(outside, ends, strict=True))  # fmt: skip
        name = call.b.out.fresh("value")
        value = call.b.let(name, x)
        given = outside[1] is not NONE
        above = choose(operate("gt", x, high), right, ends[1]) if given else right
        branches = [(operate("lt", x, low), left), (operate("ge", x, high), above)]
        points = [at(a, p) for a in (xs, fs) for p in (known_position(k) - 1, known_position(k))]
        _chain(call.b, name, branches, lambda: _between(call.b, name, x, points))
        return value

    return by_statements(call.b, "value", values.shape, FLOAT64, element)


def _chain(
    b: Builder, name: str, branches: list[tuple[ir.Expr, ir.Expr]], last: Callable[[], None]
) -> None:
    """`if ...: name = value`, `elif` and so on; `last` writes the final `else`."""
    if not branches:
        last()
        return
    (test, value), *rest = branches
    with b.out.block() as then:
        b.let(name, value)
    with b.out.block() as other:
        _chain(b, name, rest, last)
    b.out.emit(ir.If(test, tuple(then), tuple(other), b.place.origin))


def _between(b: Builder, name: str, x: ir.Expr, points: list[ir.Expr]) -> None:
    """The line through two points; NumPy goes from the other one where that gives NaN."""
    with b.out.block() as inner:
        x0, x1, f0, f1 = (
            named(b, n, e) for n, e in zip(("x0", "x1", "f0", "f1"), points, strict=True)
        )
        rise, run = operate("sub", f1, f0), operate("sub", x1, x0)
        slope = b.let(b.out.fresh("slope"), operate("truediv", rise, run))
        value = b.let(name, operate("add", operate("mul", slope, operate("sub", x, x0)), f0))
        with b.out.block() as again:
            b.let(name, operate("add", operate("mul", slope, operate("sub", x, x1)), f1))
            flat_there = operate("and", operate("isnan", value), operate("eq", f0, f1))
            b.let(name, choose(flat_there, f0, value))
        b.out.emit(ir.If(operate("isnan", value), tuple(again), (), b.place.origin))
        b.let(name, choose(operate("eq", x, x0), f0, value))
    b.out.emit(ir.If(operate("eq", x, x), tuple(inner), (), b.place.origin))


def _scalar(call: Call, value: Value) -> ir.Expr:
    found = call.ev.as_numeric(value, call.node)
    if isinstance(found, Array):
        if found.ndim:
            raise call.refuse("PRT903", "`left` and `right` of `interp` must be numbers")
        return found.at(())
    return found


@function("numpy.isin", "element test_elements assume_unique=False invert=False kind=None")
def _isin(call: Call) -> Value:
    """Whether any of the elements is equal: a comparison with every one of them."""
    values = call.operand("element")
    among = settled(call.b, flat(call.b, call.array("test_elements")))
    call.b.dtypes.same_dtype(values.dtype, among.dtype)
    invert = bool(call.constant("invert"))

    def member(e: ir.Expr) -> ir.Expr:
        k = (
            ir.Axis(call.b.out.fresh("k_"), call.b.sizes.resolve(among.shape[0]))
            if among.ndim
            else None
        )
        other = among.at([sym(k.name, True)] if k else [])
        equal = operate("eq", cast(e, strengthen(e.dtype)), other)
        found: ir.Expr = ir.Reduce("any", (k,), cast(equal, BOOL), BOOL) if k else equal
        return operate("not", found) if invert else found

    return map_arrays(call.b, member, [values], "`isin`")
