"""Products and norms."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from porter.arrays.dtypes import FLOAT64, DType, promote, strengthen
from porter.arrays.sizes import Poly, maximum, minimum, sym
from porter.frontend.calculus import (
    ONE,
    Operand,
    accumulator,
    aligned,
    as_array,
    astype,
    elementwise,
    matmul,
    normal_axis,
    reduce,
    transpose,
)
from porter.frontend.functions.reductions import Fold, extreme_of
from porter.frontend.functions.registry import Call, function
from porter.frontend.functions.shaping import reshape
from porter.frontend.scalars import cast, integer, number, operate
from porter.frontend.values import Array, Text, Value
from porter.ir.nodes import Axis, Expr, Reduce


@function("numpy.matmul", "x1 x2 out=None")
def _matmul(call: Call) -> Value:
    return matmul(call.b, call.array("x1"), call.array("x2"), "`matmul`")


def strong(value: Operand) -> Operand:
    """A Python number as the NumPy scalar that `np.asarray` makes of it."""
    return value if isinstance(value, Array) else cast(value, strengthen(value.dtype))


@function("numpy.dot", "a b out=None")
def _dot(call: Call) -> Value:
    """The sum over the last axis of `a` and the last but one of `b`."""
    x, y = call.operand("a"), call.operand("b")
    if not (isinstance(x, Array) and isinstance(y, Array) and x.ndim and y.ndim):
        return elementwise(call.b, "mul", *(strong(v) for v in (x, y)))
    if x.ndim <= 2 and y.ndim <= 2:
        return matmul(call.b, x, y, "`dot`")
    return contract(call, x, y, [x.ndim - 1], [max(y.ndim - 2, 0)])


@function("numpy.inner", "a b")
def _inner(call: Call) -> Value:
    x, y = call.operand("a"), call.operand("b")
    if not (isinstance(x, Array) and isinstance(y, Array) and x.ndim and y.ndim):
        return elementwise(call.b, "mul", *(strong(v) for v in (x, y)))
    if x.ndim <= 2 and y.ndim <= 2:
        return matmul(call.b, x, transpose(y, [1, 0]) if y.ndim == 2 else y, "`inner`")
    return contract(call, x, y, [x.ndim - 1], [y.ndim - 1])


@function("numpy.vdot", "a b")
def _vdot(call: Call) -> Value:
    """The sum over all elements in row-major order, the first operand conjugated."""
    x, y = (_flat(call, call.array(n)) for n in ("a", "b"))
    return matmul(call.b, as_array(elementwise(call.b, "conj", x)), y, "`vdot`")


def _flat(call: Call, array: Array) -> Array:
    return array if array.ndim == 1 else reshape(call, array, (Poly.of(-1),))


@function("numpy.tensordot", "a b axes=2")
def _tensordot(call: Call) -> Value:
    x, y = call.array("a"), call.array("b")
    axes = call.value("axes")
    if isinstance(axes, tuple) and len(axes) == 2:
        left, right = (_axes_list(call, a, v) for a, v in zip(axes, (x, y), strict=True))
    else:
        n = int(call.constant("axes"))
        left, right = list(range(x.ndim - n, x.ndim)), list(range(n))
    if len(left) != len(right) or min([*left, *right, 0]) < 0:
        raise call.refuse("PRT903", "`tensordot` of axes that do not match")
    if len(left) == x.ndim and len(right) == y.ndim:
        raise call.refuse("PRT901", "`tensordot` over all axes gives a 0-d array",
                          "use np.vdot or (a * b).sum() for the number")  # fmt: skip
    return contract(call, x, y, left, right)


def _axes_list(call: Call, axes: Value, array: Array) -> list[int]:
    call.arguments["axis"] = axes
    found = call.axes() or []
    return [normal_axis(call.b, a, array.ndim, "`tensordot`") for a in found]


def contract(call: Call, x: Array, y: Array, left: list[int], right: list[int]) -> Operand:
    """The sum of products over pairs of axes; the rest of x's, then of y's, remain."""
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of_x = [next(letters) for _ in range(x.ndim)]
    of_y = [of_x[left[right.index(d)]] if d in right else next(letters) for d in range(y.ndim)]
    shared = {of_x[d] for d in left}
    result = [c for c in (*of_x, *of_y) if c not in shared]
    return summed_products(call, [x, y], [of_x, of_y], result)


@function("numpy.einsum", "*operands")
def _einsum(call: Call) -> Value:
    """Subscripts that are a literal; no `...` and no letter only in the result."""
    text, *values = call.value("operands")
    if not isinstance(text, Text) or not values:
        raise call.refuse("PRT902", "the subscripts of `einsum` must be a literal string")
    terms, arrow, result = text.value.replace(" ", "").partition("->")
    subscripts = [list(t) for t in terms.split(",")]
    arrays = [as_array(call.ev.as_numeric(v, call.node)) for v in values]
    letters = [c for t in subscripts for c in t]
    order = list(result) if arrow else sorted(c for c in set(letters) if letters.count(c) == 1)
    if not re.fullmatch(r"[A-Za-z,]*", terms) or set(order) - set(letters):
        raise call.refuse("PRT901", f"`einsum` with the subscripts `{text.value}`",
                          "name every axis by a letter")  # fmt: skip
    if [len(t) for t in subscripts] != [a.ndim for a in arrays]:
        raise call.refuse("PRT903", f"`{text.value}` does not fit the operands' dimensions")
    return summed_products(call, arrays, subscripts, order)


def summed_products(
    call: Call, arrays: list[Array], subscripts: list[list[str]], result: list[str]
) -> Operand:
    """Einstein's sum: products over all letters, summed over those not in the result."""
    b = call.b
    sizes: dict[str, Poly] = {}
    for array, letters in zip(arrays, subscripts, strict=True):
        for letter, n in zip(letters, array.shape, strict=True):
            known = sizes.get(letter, ONE)
            same = known if n == ONE else n if known == ONE else b.unify(known, n, f"`{call.name}`")
            sizes[letter] = same
    dtype = strengthen(arrays[0].dtype)
    b.same_dtype(*(a.dtype for a in arrays))
    for array in arrays[1:]:
        dtype = promote(dtype, array.dtype)

    def at(idx: Sequence[Poly]) -> Expr:
        place = dict(zip(result, idx, strict=True))
        bound = [Axis(b.fresh("k_"), b.resolve(sizes[c])) for c in sizes if c not in place]
        place |= {c: sym(k.name, True) for c, k in zip(
            (c for c in sizes if c not in result), bound, strict=True)}  # fmt: skip
        factors = [
            cast(a.at(aligned(a.shape, [place[c] for c in letters])), dtype)
            for a, letters in zip(arrays, subscripts, strict=True)
        ]
        product = factors[0]
        for factor in factors[1:]:
            product = operate("mul", product, factor)
        if not bound:
            return product
        return Reduce("any" if dtype.kind == "b" else "sum", tuple(bound), product, dtype)

    if not result:
        return at(())
    return Array(tuple(sizes[c] for c in result), dtype, at)


@function("numpy.kron", "a b")
def _kron(call: Call) -> Value:
    """Blocks of `b`, each times an element of `a`."""
    x, y = call.array("a"), call.array("b")
    if x.ndim != y.ndim:
        raise call.refuse("PRT901", "`kron` of different numbers of dimensions")
    sizes = [call.b.resolve(n) for n in y.shape]

    def at(idx: Sequence[Poly]) -> Expr:
        outer = [i // n for i, n in zip(idx, sizes, strict=True)]
        inner = [i % n for i, n in zip(idx, sizes, strict=True)]
        return operate("mul", x.at(outer), y.at(inner))

    call.b.same_dtype(x.dtype, y.dtype)
    shape = tuple(n * m for n, m in zip(x.shape, y.shape, strict=True))
    return Array(shape, promote(strengthen(x.dtype), strengthen(y.dtype)), at)


@function("numpy.trace", "a offset=0 axis1=0 axis2=1 dtype=None out=None")
def _trace(call: Call) -> Value:
    """The sum along the diagonal that is `offset` above the main one."""
    array = call.array("a")
    if array.ndim < 2:
        raise call.refuse("PRT903", "`trace` needs a matrix")
    pair = [normal_axis(call.b, int(call.constant(n)), array.ndim, "`trace`")
            for n in ("axis1", "axis2")]  # fmt: skip
    kept = [d for d in range(array.ndim) if d not in pair]
    array = transpose(array, [*kept, *pair])
    k = int(call.constant("offset"))
    down, across = Poly.of(max(-k, 0)), Poly.of(max(k, 0))
    rows, columns = (call.b.resolve(n) for n in array.shape[-2:])
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
        raise call.refuse("PRT903", "`norm` of an array with more than two dimensions")
    if order is None or (order == "fro" and count == 2) or (order == 2 and count == 1):
        return _root_of_squares(Fold(call, array, chosen, keep))
    size = as_array(elementwise(call.b, "abs", array))
    if count == 1 and isinstance(order, float):
        return _vector_norm(Fold(call, size, chosen, keep), order)
    if count == 2 and isinstance(order, float) and order in (1, -1, math.inf, -math.inf):
        return _matrix_norm(call, size, chosen or [0, 1], order, keep)
    raise call.refuse("PRT901", f"`norm` of order {call.constant('ord')} here",
                      "it needs singular values: compute it outside this function")  # fmt: skip


def _order(call: Call) -> float | str | None:
    order = call.constant("ord")
    return order if order is None or isinstance(order, str) else float(order)


def _root_of_squares(fold: Fold) -> Operand:
    b, array = fold.call.b, fold.array
    base = elementwise(b, "abs", array) if array.dtype.kind == "c" else array
    squares = as_array(elementwise(b, "pow", base, integer(2)))
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

    def at(idx: Sequence[Poly]) -> Expr:
        place = dict(zip(kept, idx, strict=True))
        return table.at([place.get(d, Poly()) for d in range(table.ndim)])

    return Array(tuple(table.shape[d] for d in kept), dtype, at) if kept else at(())
