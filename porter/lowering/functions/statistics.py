"""Means, variances, weighted averages, covariances; and the reductions that skip NaN."""

from __future__ import annotations

from collections.abc import Sequence

from porter import ir
from porter.dtypes.dtype import BOOL, FLOAT64, DType, promote, strengthen
from porter.ir.scalars import cast, choose, integer, number, operate, part_of
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    accumulator,
    as_array,
    astype,
    elementwise,
    map_arrays,
    transpose,
)
from porter.lowering.functions.joining import join
from porter.lowering.functions.reductions import _EXTREMES, _SUMS, Fold, extreme_of, without_nan
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.shaping import at_the_end
from porter.lowering.library import matrix_product
from porter.lowering.state.facts import extents
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Poly

_MEANS = "a axis=None dtype=None out=None keepdims=False where=True"
_SPREADS = (
    "a axis=None dtype=None out=None ddof=0 keepdims=False where=True mean=None correction=None"
)


def mean_of(fold: Fold, dtype: DType | None = None) -> Operand:
    """The sum over the number: floats in their own dtype, integers in float64."""
    own = fold.array.dtype
    dtype = dtype or strengthen(own if own.kind in "fc" else FLOAT64)
    if dtype.kind not in "fc":
        raise fold.call.refuse("PRT907", f"`dtype={dtype.name}` truncates the mean to an integer",
                               "remove the keyword `dtype`")  # fmt: skip
    total = fold.run("sum", dtype)
    return elementwise(fold.call.b, "truediv", total, astype(fold.count(), dtype))


@function("numpy.mean", _MEANS)
def _mean(call: Call) -> Value:
    return mean_of(Fold.of(call), call.dtype())


def squares_of(fold: Fold, mean: Operand) -> Array:
    """The squared distances from the mean, of the elements that are selected."""
    array, center = fold.array, as_array(mean)

    def square(x: ir.Expr, m: ir.Expr) -> ir.Expr:
        gap = operate("sub", x, m)
        return operate("pow", operate("abs", gap) if gap.dtype.kind == "c" else gap, integer(2))

    whole = Array(array.shape, array.dtype, array.at)
    found = as_array(map_arrays(fold.call.b, square, [whole, center], f"`{fold.call.name}`"))
    return Array(found.shape, found.dtype, found.at, mask=array.mask)


def _ddof(call: Call) -> ir.Expr:
    name = "ddof" if call.value("correction") is NONE else "correction"
    return number(call.constant(name))


def variance(call: Call) -> Operand:
    """The mean squared distance from the mean: two passes, and `ddof` less, as NumPy."""
    if call.value("mean") is not NONE:
        raise call.refuse("PRT901", f"the keyword `mean` of `{call.name}` is not supported")
    fold = Fold.of(call)
    wanted = call.dtype()
    squares = squares_of(fold, mean_of(fold.over(fold.array, True), wanted))
    dtype = part_of(wanted) if wanted else strengthen(squares.dtype)
    total = fold.over(squares).run("sum", dtype)
    return _over(call, total, fold.count(), dtype)


def _over(call: Call, total: Operand, n: Operand, dtype: DType) -> Operand:
    """NumPy divides by max(n - ddof, 0)."""
    rest = elementwise(call.b, "maximum", elementwise(call.b, "sub", n, _ddof(call)), integer(0))
    return elementwise(call.b, "truediv", total, astype(rest, dtype))


@function("numpy.var", _SPREADS)
def _var(call: Call) -> Value:
    return variance(call)


@function("numpy.std", _SPREADS)
def _std(call: Call) -> Value:
    return elementwise(call.b, "sqrt", variance(call))


@function("numpy.average", "a axis=None weights=None returned=False keepdims=False")
def _average(call: Call) -> Value:
    """The sum of products over the sum of the weights, and that sum if `returned`."""
    fold = Fold.of(call)
    if call.value("weights") is NONE:
        mean = mean_of(fold)
        dtype = strengthen(as_array(mean).dtype)
        scale = astype(fold.count(), dtype)
    else:
        weights = _weights(call, fold)
        dtype = promote(fold.array.dtype, weights.dtype)
        dtype = promote(dtype, FLOAT64) if fold.array.dtype.kind in "iub" else dtype
        factors = (as_array(astype(x, dtype)) for x in (fold.array, weights))
        product = as_array(elementwise(call.b, "mul", *factors))
        total, scale = (fold.over(x).run("sum", dtype) for x in (product, weights))
        mean = elementwise(call.b, "truediv", total, scale)
    if not call.constant("returned"):
        return mean
    shape = as_array(mean).shape
    return mean, Array(shape, dtype, lambda _: as_array(scale).at(())) if shape and not isinstance(
        scale, Array) else scale  # fmt: skip


def _weights(call: Call, fold: Fold) -> Array:
    """The weights in the array's shape: 1-D ones lie along the axis."""
    weights, array = call.array("weights"), fold.array
    if weights.ndim == array.ndim:
        for n, m in zip(weights.shape, array.shape, strict=True):
            call.b.sizes.unify(n, m, "`average`: the weights have another shape than the array")
        return weights
    if weights.ndim != 1 or fold.axes is None or len(fold.axes) != 1:
        raise call.refuse(
            "PRT901",
            "the weights of `average` have a different shape than the array",
            "broadcast the weights to the shape of the array",
        )
    (axis,) = fold.axes
    call.b.sizes.unify(
        weights.shape[0], array.shape[axis], "`average`: the weights are not as long"
    )
    return Array(array.shape, weights.dtype, lambda idx: weights.at([idx[axis]]))


# -- without NaN -------------------------------------------------------------------------------


def _nan_sums(name: str, op: str, neutral: float) -> None:
    @function(f"numpy.{name}", _SUMS)
    def body(call: Call) -> Value:
        if call.value("initial") is not NONE:
            raise call.refuse("PRT901", f"the keyword `initial` of `{name}` is not supported")
        fold = Fold.of(call)
        dtype = call.dtype() or accumulator(fold.array.dtype)
        return fold.over(without_nan(fold.array, number(neutral))).run(op, dtype)


_nan_sums("nansum", "sum", 0.0)
_nan_sums("nanprod", "prod", 1.0)


def _nan_extreme(op: str, worst: float) -> None:
    @function(f"numpy.nan{op}", _EXTREMES)
    def body(call: Call) -> Value:
        """NaN where all are."""
        if call.value("initial") is not NONE:
            raise call.refuse("PRT901", f"the keyword `initial` of `nan{op}` is not supported")
        fold = Fold.of(call)
        found = extreme_of(fold.over(without_nan(fold.array, number(worst))), op)
        if fold.array.dtype.kind != "f":
            return found
        empty = fold.run("all", BOOL, lambda e: operate("isnan", e))
        return map_arrays(call.b, lambda none, best: choose(none, number(float("nan")), best),
                          [empty, found], f"`nan{op}`")  # fmt: skip


_nan_extreme("max", float("-inf"))
_nan_extreme("min", float("inf"))


def numbers_of(fold: Fold) -> Fold:
    """The fold of what is not NaN: a NaN is left out as a mask leaves it out."""
    array, given = fold.array, fold.array.mask

    def mask(idx: Sequence[Poly]) -> ir.Expr:
        there = operate("not", operate("isnan", array.at(idx)))
        return there if given is None else operate("and", given(idx), there)

    if array.dtype.kind not in "fc":
        return fold
    return fold.over(Array(array.shape, array.dtype, array.at, mask=mask))


@function("numpy.nanmean", _MEANS)
def _nanmean(call: Call) -> Value:
    return mean_of(numbers_of(Fold.of(call)), call.dtype())


def nan_variance(call: Call) -> Operand:
    """As `variance`, of what is not NaN; NaN where there are not more than `ddof`."""
    if call.value("mean") is not NONE or call.value("dtype") is not NONE:
        raise call.refuse(
            "PRT901", f"the keywords `mean` and `dtype` of `{call.name}` are not supported"
        )
    fold = numbers_of(Fold.of(call))
    squares = squares_of(fold, mean_of(fold.over(fold.array, True)))
    dtype = strengthen(squares.dtype)
    found = _over(call, fold.over(squares).run("sum", dtype), fold.count(), dtype)
    enough = elementwise(call.b, "gt", fold.count(), _ddof(call))
    return map_arrays(call.b, lambda ok, v: choose(ok, v, number(float("nan"))),
                      [enough, found], f"`{call.name}`")  # fmt: skip


@function("numpy.nanvar", _SPREADS)
def _nanvar(call: Call) -> Value:
    return nan_variance(call)


@function("numpy.nanstd", _SPREADS)
def _nanstd(call: Call) -> Value:
    return elementwise(call.b, "sqrt", nan_variance(call))


# -- covariances -------------------------------------------------------------------------------


def _rows(call: Call, name: str) -> Array:
    """One variable in each row, in float64 at least."""
    array = call.array(name)
    if array.ndim not in (1, 2):
        raise call.refuse("PRT903", f"`{call.name}` does not take a {array.ndim}-D array")
    dtype = promote(strengthen(array.dtype), FLOAT64)
    if array.ndim == 1:
        return Array((ONE, array.shape[0]), dtype, lambda idx: cast(array.at([idx[1]]), dtype))
    rows = array if call.constant("rowvar") else transpose(array, [1, 0])
    return as_array(astype(rows, dtype))


def _variables(call: Call, squeezes: bool) -> Array:
    """The variables of both arguments, one below the other."""
    rows = _rows(call, "m" if "m" in call.arguments else "x")
    if call.value("y") is not NONE:
        rows = join(call.b, [rows, _rows(call, "y")], 0, f"`{call.name}`")
    count = call.b.sizes.resolve(rows.shape[0])
    late = squeezes and count != ONE and at_the_end(call, [count])
    if count != ONE and not late and not (count - 1).is_positive():
        # NumPy gives a number for a single variable: how many there are must be known
        message = f"`{call.name}` of one variable gives a number: pass it as a 1-D array"
        when = (count, *extents(call.b.sizes))
        call.b.sizes.check(ir.Check("index", Poly.of(2), count, message, when=when))
    if rows.dtype.kind == "c" and not count.is_positive():
        message = f"`{call.name}` of no complex variable gives floats"
        call.b.sizes.check(ir.Check("index", ONE, count, message))
    return rows


def covariance(call: Call, squeezes: bool = False) -> Operand:
    """Sums of products of distances from the means, over n - ddof (n - 1 unless `bias`).

    A table of one variable, which NumPy `squeezes`, is a number.
    """
    rows = _variables(call, squeezes)
    mean = as_array(mean_of(Fold(call, rows, [1], True)))
    gaps = call.b.define("centered", as_array(elementwise(call.b, "sub", rows, mean)))
    ddof = int(call.constant("ddof")) if call.value("ddof") is not NONE else int(
        not call.constant("bias"))  # fmt: skip
    others = transpose(gaps, [1, 0])
    if others.dtype.kind == "c":
        others = as_array(elementwise(call.b, "conj", others))
    products = matrix_product(call.ev, gaps, others, f"`{call.name}`")
    n = operate("maximum", integer(call.b.sizes.resolve(rows.shape[1]) - ddof), integer(0))
    found = as_array(elementwise(call.b, "truediv", products, cast(n, part_of(rows.dtype))))
    if rows.shape[0] != ONE:
        return found
    return Array((), found.dtype, lambda _: found.at([Poly(), Poly()]))


@function("numpy.cov", "m y=None rowvar=True bias=False ddof=None")
def _cov(call: Call) -> Value:
    return covariance(call, squeezes=True)


@function("numpy.corrcoef", "x y=None rowvar=True")
def _corrcoef(call: Call) -> Value:
    """The covariances over the standard deviations of both variables, within -1 and 1."""
    call.arguments |= {"bias": False, "ddof": NONE}
    found = covariance(call)
    if not as_array(found).ndim:
        return elementwise(call.b, "truediv", as_array(found).at(()), as_array(found).at(()))
    if found.dtype.kind == "c":
        raise call.refuse(
            "PRT907",
            "`corrcoef` of complex numbers is not supported",
            "pass the real and imaginary parts separately",
        )
    table = call.b.define("covariances", as_array(found))
    n = table.shape[0]
    spread = [
        as_array(elementwise(call.b, "sqrt", Array(shape, table.dtype, at)))
        for shape, at in (
            ((n, ONE), lambda idx: table.at([idx[0], idx[0]])),
            ((n,), lambda idx: table.at([idx[0], idx[0]])),
        )
    ]
    ratio: Operand = table
    for divisor in spread:
        ratio = elementwise(call.b, "truediv", ratio, divisor)
    return elementwise(call.b, "minimum", elementwise(call.b, "maximum", ratio, number(-1.0)),
                       number(1.0))  # fmt: skip
