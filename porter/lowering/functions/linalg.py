"""Products and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import FLOAT64, DType, strengthen
from porter.ir.scalars import cast, integer, number, operate
from porter.lowering.arrays.calculus import (
    Operand,
    accumulator,
    as_array,
    astype,
    elementwise,
    matmul,
    normal_axis,
    reduce,
    strong,
    transpose,
)
from porter.lowering.functions.contraction import paired
from porter.lowering.functions.reductions import Fold, extreme_of
from porter.lowering.functions.registry import Call, function
from porter.lowering.library import matrix_product, product
from porter.resolve.values import Array, Value
from porter.sizes.polynomial import Poly, maximum, minimum


@function("numpy.matmul", "x1 x2 out=None")
def _matmul(call: Call) -> Value:
    x, y = call.array("x1"), call.array("x2")
    return matrix_product(call.ev, x, y, "`matmul`")


@function("numpy.linalg.multi_dot", "arrays out=None")
def _multi_dot(call: Call) -> Value:
    """The product of all, from left to right."""
    arrays = call.value("arrays")
    if not isinstance(arrays, tuple) or len(arrays) < 2:
        raise call.refuse(
            "PRT902",
            "`multi_dot` requires a tuple or list of arrays",
            "pass the arrays as a tuple or list",
        )
    found, *rest = (as_array(call.ev.as_numeric(a, call.node)) for a in arrays)
    for factor in rest:
        if not found.is_buffer:
            found = call.b.define("product", found)
        found = as_array(matrix_product(call.ev, found, factor, "`multi_dot`"))
    return found if found.ndim else found.at(())


@function("numpy.linalg.matrix_power", "a n")
def _matrix_power(call: Call) -> Value:
    """Squares of squares; the zeroth power needs no elements, a negative one an inverse."""
    a, n = call.array("a"), int(call.constant("n"))
    if a.ndim != 2 or n < 1:
        raise call.refuse("PRT901", f"`matrix_power` with the exponent {n} is not supported")
    call.b.sizes.unify(a.shape[0], a.shape[1], "`matrix_power` of a matrix that is not square")
    result: Array | None = None
    square = a
    while True:
        if n % 2:
            result = square if result is None else _stored_product(call, result, square)
        n //= 2
        if not n:
            break
        square = _stored_product(call, square, square)
    return result if result is not None else a


def _stored_product(call: Call, x: Array, y: Array) -> Array:
    return call.b.define("power", as_array(matmul(call.b, x, y, "`matrix_power`")))


@function("numpy.dot", "a b out=None")
def _dot(call: Call) -> Value:
    """The sum over the last axis of `a` and the last but one of `b`."""
    x, y = call.operand("a"), call.operand("b")
    if not (isinstance(x, Array) and isinstance(y, Array) and x.ndim and y.ndim):
        return elementwise(call.b, "mul", *(strong(v) for v in (x, y)))
    if x.ndim <= 2 and y.ndim <= 2:
        made = matmul(call.b, x, y, "`dot`")
    else:
        made = paired(call.b, x, y, [x.ndim - 1], [max(y.ndim - 2, 0)], "`dot`")
    return product(call.ev, "np.dot({0}, {1})", (x, y), made)


@function("numpy.trace", "a offset=0 axis1=0 axis2=1 dtype=None out=None")
def _trace(call: Call) -> Value:
    """The sum along the diagonal that is `offset` above the main one."""
    array = call.array("a")
    if array.ndim < 2:
        raise call.refuse("PRT903", "`trace` requires a 2-D array")
    pair = [normal_axis(call.b, int(call.constant(n)), array.ndim, "`trace`")
            for n in ("axis1", "axis2")]  # fmt: skip
    kept = [d for d in range(array.ndim) if d not in pair]
    array = transpose(array, [*kept, *pair])
    k = int(call.constant("offset"))
    down, across = Poly.of(max(-k, 0)), Poly.of(max(k, 0))
    rows, columns = (call.b.sizes.resolve(n) for n in array.shape[-2:])
    same = rows == columns and not k
    n = rows if same else maximum(minimum(rows - down, columns - across), 0)
    diagonal = Array((*array.shape[:-2], n), array.dtype, lambda idx: array.at(
        [*idx[:-1], idx[-1] + down, idx[-1] + across]))  # fmt: skip
    dtype = call.dtype() or accumulator(array.dtype)
    axes = [diagonal.ndim - 1]
    return reduce(call.b, "sum", diagonal, axes, False, dtype, lambda e: cast(e, dtype))


# -- norms -------------------------------------------------------------------------------------


@function("numpy.linalg.norm", "x ord=None axis=None keepdims=False")
def _norm(call: Call) -> Value:
    """Vector norms of any order; of matrices the Frobenius norm and those of row or column sums."""
    array = call.array("x")
    if array.dtype.kind in "iub":
        array = as_array(astype(array, FLOAT64))
    axes = call.axes()
    order = _order(call)
    chosen = None if axes is None else [normal_axis(call.b, a, array.ndim, "`norm`") for a in axes]
    keep = bool(call.constant("keepdims"))
    count = array.ndim if chosen is None else len(chosen)
    if chosen is None and order is not None and array.ndim > 2:
        raise call.refuse(
            "PRT903", "`norm` of an array of more than two dimensions is not supported"
        )
    if order is None or (order == "fro" and count == 2) or (order == 2 and count == 1):
        return _root_of_squares(Fold(call, array, chosen, keep))
    size = as_array(elementwise(call.b, "abs", array))
    if count == 1 and isinstance(order, float):
        return _vector_norm(Fold(call, size, chosen, keep), order)
    if count == 2 and isinstance(order, float) and order in (1, -1, math.inf, -math.inf):
        return _matrix_norm(call, size, chosen or [0, 1], order, keep)
    raise call.refuse(
        "PRT901",
        f"`norm` of order {call.constant('ord')} is not supported",
        "compute it outside this function, since it needs singular values",
    )


def _order(call: Call) -> float | str | None:
    order = call.constant("ord")
    return order if order is None or isinstance(order, str) else float(order)


def _root_of_squares(fold: Fold) -> Operand:
    b, array = fold.call.b, fold.array
    # the square of `abs` would be infinite where one part is, and NumPy's is NaN beside a NaN
    parts = ("real", "imag") if array.dtype.kind == "c" else ()
    each = [elementwise(b, name, array) for name in parts] or [array]
    first, *others = (elementwise(b, "pow", e, integer(2)) for e in each)
    for other in others:
        first = elementwise(b, "add", first, other)
    squares = as_array(first)
    total = fold.over(squares).run("sum", strengthen(squares.dtype))
    return elementwise(b, "sqrt", total)


def _vector_norm(fold: Fold, order: float) -> Operand:
    b, dtype = fold.call.b, strengthen(fold.array.dtype)
    if order == math.inf:
        # the norm of nothing is 0
        found = fold.run("max", dtype)
        return elementwise(b, "maximum", found, integer(0))
    if order == -math.inf:
        return extreme_of(fold, "min")
    if order == 0:
        return fold.run("sum", dtype, lambda e: cast(operate("ne", e, integer(0)), dtype))
    if order == 1:
        return fold.run("sum", dtype)
    powers = as_array(elementwise(b, "pow", fold.array, number(order)))
    total = fold.over(powers).run("sum", dtype)
    return elementwise(b, "pow", total, number(1 / order))


def _matrix_norm(call: Call, size: Array, axes: list[int], order: float, keep: bool) -> Operand:
    """The largest (or smallest) sum of a column for 1, of a row for inf."""
    rows, columns = axes
    along, across = (rows, columns) if abs(order) == 1 else (columns, rows)
    dtype: DType = strengthen(size.dtype)
    sums = as_array(Fold(call, size, [along], True).run("sum", dtype))
    over = Fold(call, sums, [across], True)
    # the largest of nothing is 0
    worst = (
        extreme_of(over, "max", cast(integer(0), dtype)) if order > 0 else extreme_of(over, "min")
    )
    if keep:
        return worst
    table = as_array(worst)
    kept = [d for d in range(table.ndim) if d not in axes]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        place = dict(zip(kept, idx, strict=True))
        return table.at([place.get(d, Poly()) for d in range(table.ndim)])

    return Array(tuple(table.shape[d] for d in kept), dtype, at) if kept else at(())
