"""Reductions: every one is a fold of the IR and, where needed, a formula around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from porter import ir
from porter.dtypes.dtype import BOOL, INT64, RANK, WEAK_BOOL, DType, promote, strengthen
from porter.ir.scalars import (
    cast,
    cast_bool,
    choose,
    constant_of,
    integer,
    number,
    operate,
    truth,
)
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    accumulator,
    aligned,
    as_array,
    broadcast_shape,
    elementwise,
    index_value,
    map_arrays,
    normal_axis,
    reduce,
)
from porter.lowering.arrays.compaction import whole
from porter.lowering.expressions.methods import positive
from porter.lowering.functions.registry import Call, function
from porter.lowering.state import ambiguous
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import lowest
from porter.resolve.values import NONE, Array, Value
from porter.sizes.polynomial import Apply, Poly

_SUMS = "a axis=None dtype=None out=None keepdims=False initial=None where=True"
_EXTREMES = "a axis=None out=None keepdims=False initial=None where=True"
_TESTS = "a axis=None out=None keepdims=False where=True"


@dataclass(frozen=True)
class Fold:
    """What is folded, and how: the arguments that all reductions share."""

    call: Call
    array: Array
    axes: list[int] | None
    keep: bool

    @staticmethod
    def of(call: Call, name: str = "a", axis: str = "axis") -> Fold:
        """The arguments of a call. `where` selects elements as a mask does."""
        array = selected(call, _foldable(call, call.array(name), axis))
        keep = bool(call.constant("keepdims")) if "keepdims" in call.arguments else False
        return Fold(call, array, axes_of(call, array, axis), keep)

    def over(self, array: Array, keep: bool | None = None) -> Fold:
        """The same fold of another array of the same shape."""
        return Fold(self.call, array, self.axes, self.keep if keep is None else keep)

    def run(
        self, op: str, dtype: DType, change: Callable[[ir.Expr], ir.Expr] | None = None,
        neutral: ir.Expr | None = None,
    ) -> Operand:  # fmt: skip
        """The fold as `dtype`; `neutral` stands for elements that are not selected."""
        to_dtype = change or (lambda e: cast(e, dtype))
        return reduce(self.call.b, op, self.array, self.axes, self.keep, dtype, to_dtype, neutral)

    def count(self) -> Operand:
        """How many elements each result is made of, as integers."""
        if self.array.mask is None:
            return integer(self.length())
        mask = Array(self.array.shape, BOOL, self.array.mask)
        return self.over(mask).run("sum", INT64)

    def length(self) -> Poly:
        """The number of elements along the axes."""
        size = ONE
        for d in range(self.array.ndim) if self.axes is None else self.axes:
            size *= extent(self.call, self.array, d)
        return size


def extent(call: Call, array: Array, d: int) -> Poly:
    """The length of an axis, never below zero."""
    return positive(call.b.sizes.resolve(array.shape[d]))


def axes_of(call: Call, array: Array, name: str = "axis") -> list[int] | None:
    """The axes as sorted nonnegative numbers, None for all."""
    axes = call.axes(name)
    if axes is None:
        return None
    if not axes:
        raise call.refuse(
            "PRT903", f"`{call.name}` is called with an empty tuple of axes", "remove the call"
        )
    found = [normal_axis(call.b, a, array.ndim, f"`{call.name}`") for a in axes]
    if len(set(found)) < len(found):
        raise call.refuse(
            "PRT903", f"`{call.name}` is given the same axis twice", "name each axis once"
        )
    return sorted(found)


def _foldable(call: Call, array: Array, axis: str) -> Array:
    """A selection whose axis is folded is a condition for each element; others are made whole."""
    if not array.lead:
        return array
    axes = call.axes(axis)
    keep = "keepdims" in call.arguments and call.constant("keepdims")
    every = axes is None and not keep
    first = array.lead == 1 and (axes is None or bool({0, -array.ndim} & set(axes)))
    if unselected(call) and (every or first):
        return replace(array, lead=0)
    return whole(call.b, array)


def unselected(call: Call) -> bool:
    """Whether no `where` is given."""
    where = call.arguments.get("where", True)
    return where is True or constant_of(where) is True


def selected(call: Call, array: Array) -> Array:
    """The elements for which `where` holds, as an array with a mask."""
    if unselected(call):
        return array
    mask = call.array("where")
    if mask.dtype.kind != "b" or mask.ndim > array.ndim or array.mask is not None:
        raise call.refuse("PRT907", f"`where` of `{call.name}` must be a boolean array "
                          "of the array's shape", "pass a comparison, such as `x > 0`")  # fmt: skip
    broadcast_shape(call.b, [array.shape, mask.shape], f"`where` of `{call.name}`")
    return Array(array.shape, array.dtype, array.at, mask=lambda idx: mask.at(
        aligned(mask.shape, idx)))  # fmt: skip


def _initial(call: Call, dtype: DType) -> ir.Expr | None:
    """The argument `initial` in the dtype of the result."""
    if call.value("initial") is NONE:
        return None
    value = call.operand("initial")
    if isinstance(value, Array) or RANK[value.dtype.kind] > RANK[dtype.kind]:
        raise call.refuse("PRT907", f"`initial` of `{call.name}` must be a {dtype.name} number")
    return cast(value, dtype)


def _sums(name: str, op: str, combine: str) -> None:
    @function(f"numpy.{name}", _SUMS)
    def body(call: Call) -> Value:
        fold = Fold.of(call)
        dtype = call.dtype() or accumulator(fold.array.dtype)
        total = fold.run(op, dtype)
        start = _initial(call, dtype)
        return total if start is None else elementwise(call.b, combine, start, total)


_sums("sum", "sum", "add")
_sums("prod", "prod", "mul")


@function("builtins.sum", "iterable start=0")
def _python_sum(call: Call) -> Value:
    """`start + x[0] + x[1] + ...`: rows are added, and integers wrap in their own dtype."""
    items = call.value("iterable")
    if isinstance(items, tuple):
        return _added(call, items)
    array = call.array("iterable")
    if not array.ndim:
        raise call.refuse("PRT903", "`sum` is applied to a scalar")
    start = call.operand("start") if call.value("start") != 0 else integer(0)
    dtype = strengthen(promote(array.dtype, start.dtype))
    total = reduce(call.b, "sum", array, [0], False, dtype, lambda e: cast(e, dtype))
    return total if start == integer(0) else elementwise(call.b, "add", start, total)


def _added(call: Call, items: tuple[Value, ...]) -> Value:
    """The sum of things that are written out: a term for each, and the 0 that makes 0.0 of -0.0."""
    terms = [call.ev.as_numeric(item, call.node) for item in items]
    if call.value("start") != 0:
        terms.insert(0, call.operand("start"))
    elif len(terms) < 2 or terms[0].dtype.kind not in "iu":
        terms.insert(0, integer(0))
    total = terms[0]
    for term in terms[1:]:
        total = elementwise(call.b, "add", total, term)
    return total


def nonempty(fold: Fold) -> None:
    """NumPy raises ValueError for the extreme of nothing."""
    call, array = fold.call, fold.array
    message = f"zero-size array to reduction operation {call.name.short}"
    for d in range(array.ndim) if fold.axes is None else fold.axes:
        for n in at_least(call.b, call.b.sizes.resolve(array.shape[d])):
            if not n.is_positive():
                call.b.sizes.check(ir.Check("index", ONE, n, message + " which has no identity"))


def at_least(b: Builder, n: Poly) -> list[Poly]:
    """The sizes that must be positive for n to be, in every iteration of the loops around.

    Those of a minimum are its parts'; `min(p, q) - max(r, s)` is positive if p - r, p - s, q - r
    and q - s are, and each of these where it is smallest.
    """
    for atom in n.atoms():
        if not isinstance(atom, Apply) or atom.op not in ("min", "max", "bound"):
            continue
        sign = -1 if atom.op == "max" else 1
        rest = n - sign * Poly.atom(atom)
        if atom not in rest.atoms():
            parts = [part for arg in atom.args for part in at_least(b, rest + sign * arg)]
            # a bound that is not counted from the end is a minimum
            return parts + (at_least(b, atom.args[0] + 1) if atom.op == "bound" else [])
    return [lowest(b.sizes, n)]


def ordered(fold: Fold, masks: bool = False) -> None:
    """Refuse what has no order, and selections that may be empty."""
    kind, mask = fold.array.dtype.kind, fold.array.mask
    if kind == "c" or (mask is not None and not masks):
        raise fold.call.refuse(
            "PRT907", f"`{fold.call.name}` of complex numbers or of a selection is not supported"
        )


def extreme_of(fold: Fold, op: str, start: ir.Expr | None = None) -> Operand:
    """The maximum or minimum, NaN if there is one; of `start` too, if it is given."""
    dtype = strengthen(fold.array.dtype)
    ordered(fold, masks=start is not None)
    if start is None or dtype.kind != "f":
        nonempty(fold)
    found = fold.run(op, dtype, lambda e: e, start)
    if start is None:
        return found
    return elementwise(fold.call.b, f"{op}imum", found, start)


def _extreme(op: str) -> None:
    @function(f"numpy.{op} numpy.a{op}", _EXTREMES)
    def body(call: Call) -> Value:
        fold = Fold.of(call)
        return extreme_of(fold, op, _initial(call, strengthen(fold.array.dtype)))


_extreme("max")
_extreme("min")


@function("numpy.ptp", "a axis=None out=None keepdims=False")
def _ptp(call: Call) -> Value:
    fold = Fold.of(call)
    return elementwise(call.b, "sub", extreme_of(fold, "max"), extreme_of(fold, "min"))


def _chained(call: Call, op: str, items: Sequence[Value]) -> ir.Expr:
    """`a or b or c` of the items, as a bool."""
    result: ir.Expr = number(op == "and")
    for item in items:
        value = call.ev.as_numeric(item, call.node)
        if isinstance(value, Array) and value.ndim:
            raise call.refuse("PRT902", "the truth value of an array is ambiguous",
                              "use `np.any` or `np.all`")  # fmt: skip
        e = value.at(()) if isinstance(value, Array) else value
        result = operate(op, result, truth(e))
    return result


def _test(op: str) -> None:
    @function(f"numpy.{op}", _TESTS)
    def body(call: Call) -> Value:
        return Fold.of(call).run(op, BOOL, as_bool)

    @function(f"builtins.{op}", "iterable")
    def python(call: Call) -> Value:
        items = call.value("iterable")
        if isinstance(items, tuple):
            return _chained(call, "or" if op == "any" else "and", items)
        array = call.array("iterable")
        if array.ndim != 1:
            raise call.refuse("PRT902", f"`{op}` of the rows of an array is ambiguous",
                              f"use `np.{op}`")  # fmt: skip
        return reduce(call.b, op, array, None, False, WEAK_BOOL,
                      lambda e: cast(as_bool(e), WEAK_BOOL))  # fmt: skip


def as_bool(e: ir.Expr) -> ir.Expr:
    """Whether an element counts as true, in NumPy's bool."""
    return cast(e if e.dtype.kind == "b" else cast_bool(e), BOOL)


_test("any")
_test("all")


@function("numpy.count_nonzero", "a axis=None keepdims=False")
def _count_nonzero(call: Call) -> Value:
    """A NumPy integer, but Python's int when everything is counted."""
    fold = Fold.of(call)
    counted = fold.run("sum", INT64, lambda e: cast(as_bool(e), INT64))
    return counted


def _argument(op: str) -> None:
    @function(f"numpy.{op}", "a axis=None out=None keepdims=False")
    def body(call: Call) -> Value:
        fold = Fold.of(call)
        ordered(fold)
        nonempty(fold)
        return _first_where(fold, op.removeprefix("arg"))


def _first_where(fold: Fold, op: str) -> Operand:
    """The first position of the extreme (of a NaN, if there is one): a minimum of positions."""
    b, array = fold.call.b, fold.array
    best = as_array(fold.over(array, True).run(op, strengthen(array.dtype), lambda e: e))
    size = fold.length()

    def at(idx: Sequence[Poly]) -> ir.Expr:
        value, top = array.at(idx), best.at(idx)
        hit = operate("eq", value, top)
        if array.dtype.kind == "f":
            hit = operate("or", hit, operate("isnan", value))
        position = Poly()
        for d in range(array.ndim) if fold.axes is None else fold.axes:
            position = position * b.sizes.resolve(array.shape[d]) + idx[d]
        return ir.Select(hit, index_value(position), index_value(size), INT64)

    return fold.over(Array(array.shape, INT64, at)).run("min", INT64)


_argument("argmax")
_argument("argmin")


@function("builtins.max builtins.min", "*values")
def _builtin_extreme(call: Call) -> Value:
    given = call.value("values")
    if len(given) == 1 and isinstance(given[0], tuple):
        given = given[0]
    if not given:
        raise call.refuse(
            "PRT901",
            f"`{call.name.short}` of an empty sequence raises ValueError",
            "pass at least one element",
        )
    values = [call.ev.as_numeric(v, call.node) for v in given]
    op = call.name.short
    if len(values) == 1:
        array = as_array(values[0])
        if array.ndim != 1:
            raise call.refuse("PRT903", f"`{op}` of a {array.ndim}-D array is ambiguous")
        return _python_extreme_of(Fold(call, array, None, False), op)
    result = values[0]
    for v in values[1:]:
        result = _python_extreme(call, op, result, v)
    return result


def _python_extreme_of(fold: Fold, op: str) -> Operand:
    """Python's loop of comparisons: a NaN stays if it is first, and is passed over else."""
    array = fold.array
    found = extreme_of(fold.over(without_nan(array, number(_WORST[op]))), op)
    if array.dtype.kind != "f":
        return found
    first = array.at([Poly()])
    return choose(operate("isnan", first), first, as_array(found).at(()))


_WORST = {"max": -math.inf, "min": math.inf}


def without_nan(array: Array, instead: ir.Expr) -> Array:
    """The array with another value for every NaN."""
    if array.dtype.kind not in "fc":
        return array

    def at(idx: Sequence[Poly]) -> ir.Expr:
        value = array.at(idx)
        return choose(operate("isnan", value), cast(instead, value.dtype), value)

    return Array(array.shape, array.dtype, at, mask=array.mask)


def _python_extreme(call: Call, op: str, x: Operand, y: Operand) -> Operand:
    """`max(x, y)`: y if y > x else x (so that NaN behaves as in Python)."""
    if (isinstance(x, Array) and x.ndim) or (isinstance(y, Array) and y.ndim):
        raise call.refuse("PRT902", f"`{op}` of arrays is ambiguous", f"use `np.{op}imum`")

    def pick(u: ir.Expr, v: ir.Expr) -> ir.Expr:
        if u.dtype.weak and v.dtype.weak and u.dtype.kind == v.dtype.kind == "i":
            return operate("maximum" if op == "max" else "minimum", u, v)
        taken = operate("gt" if op == "max" else "lt", v, u)
        if constant_of(taken) is False and not u.dtype.weak:
            return u
        chosen = choose(taken, v, u)
        ambiguous.meet(call.b.dtypes, chosen, v, u)
        return chosen

    return map_arrays(call.b, pick, [x, y], f"`{op}`")
