"""Arrays made of their own positions, and positions as indices for every axis."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import FLOAT64, INT64
from porter.ir.scalars import cast, integer, operate
from porter.lowering.arrays.calculus import Operand, as_array, elementwise, index_value
from porter.lowering.arrays.elements import by_statements, first_not
from porter.lowering.expressions.inline import inline
from porter.lowering.functions.creation import shape_of
from porter.lowering.functions.registry import Call, function
from porter.resolve.values import NONE, Array, Function, Value
from porter.sizes.polynomial import Data, Poly, maximum
from porter.sizes.shapes import product


@function("numpy.fromfunction", "function shape dtype=None")
def _fromfunction(call: Call) -> Value:
    """The function of the arrays of positions, as floats unless `dtype` says otherwise."""
    callee = call.value("function")
    if not isinstance(callee, Function) or callee.node is None:
        raise call.refuse(
            "PRT901",
            "`fromfunction` requires a function of this file or a lambda",
            "write the function as a `lambda` or with `def` in this file",
        )
    shape = shape_of(call, call.value("shape"))
    dtype = call.dtype() or FLOAT64

    def along(d: int) -> Array:
        return Array(shape, dtype, lambda idx: cast(index_value(idx[d]), dtype))

    return inline(call.ev, callee, [along(d) for d in range(len(shape))], {})


@function("numpy.unravel_index", "indices shape")
def _unravel_index(call: Call) -> Value:
    """The subscripts of what `argmax` or `argmin` found; any other index might not fit."""
    found, shape = call.operand("indices"), shape_of(call, call.value("shape"))
    if not _extreme_of(call, found, shape):
        raise call.refuse("PRT905", "`unravel_index` of this index may raise ValueError",
                          "use it on the result of `argmax` of an array of that shape")  # fmt: skip
    rest: Operand = found
    result: list[Operand] = []
    for n in reversed(shape[1:]):
        result.append(elementwise(call.b, "mod", rest, cast(integer(n), INT64)))
        rest = elementwise(call.b, "floordiv", rest, cast(integer(n), INT64))
    return (rest, *reversed(result))


def _extreme_of(call: Call, found: Operand, shape: tuple[Poly, ...]) -> bool:
    """Whether each is the position of an extreme among as many elements as the shape has."""
    e = found.at((Poly(),) * found.ndim) if isinstance(found, Array) else found
    if isinstance(e, ir.Load):
        known = call.b.out.definition(e.buffer)
        e = e if known is None else known.body
    if not isinstance(e, ir.Reduce) or e.op != "min" or e.dtype != INT64:
        return False
    count = product([call.b.sizes.resolve(a.extent) for a in e.axes])
    return count == product([call.b.sizes.resolve(n) for n in shape])


def _triangle(call: Call, upper: bool) -> Value:
    """Rows by bisection in the numbers of elements before them; columns by what is left."""
    n = shape_of(call, call.value("n"))[0]
    k = int(call.constant("k"))
    if call.value("m") is not NONE or (k < 0 if upper else k > 0):
        raise call.refuse("PRT901", f"`{call.name}` of an array of less than two dimensions")
    side = maximum(n - abs(k), 0)

    def before(row: Poly) -> Poly:
        """Elements above a row, twice: a triangle or what is left of one."""
        return row * (side * 2 + 1 - row) if upper else row * (row + 1)

    def row_of(idx: Sequence[Poly]) -> ir.Expr:
        def holds(middle: Poly) -> ir.Expr:
            ends = ir.Value(before(middle + 1), INT64)
            return operate("le", ends, ir.Value(idx[0] * 2, INT64))

        return first_not(call.b, side, holds)

    count = side * (side + 1) // 2
    rows = as_array(by_statements(call.b, "row", (count,), INT64, row_of))

    def column(idx: Sequence[Poly]) -> ir.Expr:
        row = Poly.atom(Data(rows.at(idx), nonneg=True, inside=True))
        offset = ir.Value(idx[0] - before(row) // 2, INT64)
        first = ir.Value(row + k if upper else Poly(), INT64)
        return operate("add", offset, first)

    def shifted(idx: Sequence[Poly]) -> ir.Expr:
        return operate("add", rows.at(idx), cast(integer(Poly() if upper else Poly.of(-k)), INT64))

    return Array((count,), INT64, shifted), Array((count,), INT64, column)


@function("numpy.triu_indices", "n k=0 m=None")
def _triu_indices(call: Call) -> Value:
    return _triangle(call, upper=True)


@function("numpy.tril_indices", "n k=0 m=None")
def _tril_indices(call: Call) -> Value:
    return _triangle(call, upper=False)
