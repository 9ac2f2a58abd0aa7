"""Products and norms."""

from __future__ import annotations

from porter.arrays.dtypes import FLOAT64, strengthen
from porter.frontend.calculus import (
    Operand,
    accumulator,
    as_array,
    elementwise,
    matmul,
    normal_axis,
    reduce,
    transpose,
)
from porter.frontend.functions.registry import Call, function
from porter.frontend.scalars import cast, integer, operate
from porter.frontend.values import Array, Value


@function("numpy.matmul", "x y")
def _matmul(call: Call) -> Value:
    return matmul(call.b, call.array("x"), call.array("y"), "`matmul`")


def strong(value: Operand) -> Operand:
    """A Python number as the NumPy scalar that `np.asarray` makes of it."""
    return value if isinstance(value, Array) else cast(value, strengthen(value.dtype))


@function("numpy.dot", "a b")
def _dot(call: Call) -> Value:
    x, y = call.operand("a"), call.operand("b")
    if not (isinstance(x, Array) and isinstance(y, Array) and x.ndim and y.ndim):
        return elementwise(call.b, "mul", *(strong(v) for v in (x, y)))
    if x.ndim > 2 or y.ndim > 2:
        raise call.refuse("PRT901", "`dot` of arrays with more than two dimensions", "use `@`")
    return matmul(call.b, x, y, "`dot`")


@function("numpy.inner", "a b")
def _inner(call: Call) -> Value:
    x, y = call.array("a"), call.array("b")
    if not x.ndim or not y.ndim or x.ndim > 2 or y.ndim > 2:
        raise call.refuse("PRT901", "`inner` of these numbers of dimensions")
    return matmul(call.b, x, transpose(y, [1, 0]) if y.ndim == 2 else y, "`inner`")


@function("numpy.vdot", "a b")
def _vdot(call: Call) -> Value:
    x, y = call.array("a"), call.array("b")
    if x.ndim != 1 or y.ndim != 1:
        raise call.refuse("PRT901", "`vdot` of arrays that are not 1-D")
    return matmul(call.b, as_array(elementwise(call.b, "conj", x)), y, "`vdot`")


@function("numpy.trace", "a")
def _trace(call: Call) -> Value:
    array = call.array("a")
    if array.ndim != 2:
        raise call.refuse("PRT901", "`trace` of an array that is not 2-D")
    n = call.b.unify(array.shape[0], array.shape[1], "`trace` of a matrix that is not square")
    diagonal = Array((n,), array.dtype, lambda idx: array.at([idx[0], idx[0]]))
    dtype = accumulator(array.dtype)
    return reduce(call.b, "sum", diagonal, None, False, dtype, lambda e: cast(e, dtype))


@function("numpy.linalg.norm", "x ord=None axis=None keepdims=False")
def _norm(call: Call) -> Value:
    """The 2-norm (Frobenius norm of a matrix), or the 1- and inf-norms of vectors."""
    array = call.array("x")
    if array.dtype.kind in "iub":
        array = as_array(elementwise(call.b, "mul", array, cast(integer(1), FLOAT64)))
    axes = call.axes()
    chosen = None if axes is None else [normal_axis(call.b, a, array.ndim, "`norm`") for a in axes]
    order = call.constant("ord")
    keep = bool(call.constant("keepdims"))
    size = as_array(elementwise(call.b, "abs", array))
    vectors = len(range(array.ndim) if chosen is None else chosen) == 1
    if order in (None, 2, "fro") and (vectors or order != 2):
        return _root_of_squares(call, array, size, chosen, keep)
    if vectors and order in (1, float("inf")):
        op = "sum" if order == 1 else "max"
        found = reduce(call.b, op, size, chosen, keep, strengthen(size.dtype))
        # the norm of nothing is 0
        return found if op == "sum" else elementwise(call.b, "maximum", found, integer(0))
    raise call.refuse("PRT901", f"`norm` of order {order} here")


def _root_of_squares(
    call: Call, array: Array, size: Array, axes: list[int] | None, keep: bool
) -> Operand:
    base = size if array.dtype.kind == "c" else array
    squares = as_array(elementwise(call.b, "pow", base, integer(2)))
    total = reduce(call.b, "sum", squares, axes, keep, strengthen(squares.dtype))
    return elementwise(call.b, "sqrt", total)


__all__ = ["operate"]
