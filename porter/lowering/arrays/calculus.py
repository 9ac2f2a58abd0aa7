"""Operations on delayed arrays: each is index arithmetic or a map over scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.dtypes.dtype import INT64, WEAK_COMPLEX, WEAK_FLOAT, DType, strengthen
from porter.ir.ops import sign
from porter.ir.scalars import DTypeError, cast, choose, constant_of, integer, operate
from porter.lowering.arrays.compaction import same_selection, whole
from porter.lowering.arrays.divisions import test_divisor
from porter.lowering.arrays.powers import shifted_size, test_power
from porter.lowering.state import ambiguous
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import extents
from porter.resolve.values import Array, At
from porter.sizes.polynomial import Apply, Poly, sym

Operand = Array | ir.Expr
ONE = Poly.of(1)


def as_array(value: Operand) -> Array:
    """A scalar as a 0-d array."""
    if isinstance(value, Array):
        return value
    return Array((), strengthen(value.dtype), lambda _: value)


def strong(value: Operand) -> Operand:
    """A Python number as the NumPy scalar that `np.asarray` makes of it."""
    return value if isinstance(value, Array) else cast(value, strengthen(value.dtype))


def broadcast_shape(
    b: Builder, shapes: Sequence[tuple[Poly, ...]], what: str, strides: bool = False
) -> tuple[Poly, ...]:
    """The common shape; dimensions that are not 1 at conversion are taken as equal.

    With `strides` those that may be 1 all the same are told by `Strides.is_thin`.
    """
    ndim = max(map(len, shapes))
    result: list[Poly] = []
    for d in range(-ndim, 0):
        size = ONE
        for shape in shapes:
            if len(shape) < -d or shape[d] == ONE:
                continue
            if size == ONE:
                size = b.sizes.resolve(shape[d])
                continue
            common = b.strides.met(size, shape[d], what) if strides else None
            size = b.sizes.unify(size, shape[d], what, True) if common is None else common
        result.append(size)
    return tuple(result)


def aligned(shape: tuple[Poly, ...], idx: Sequence[Poly]) -> list[Poly]:
    """The subscripts of a broadcast operand: 0 along its dimensions of size 1."""
    tail = list(idx)[len(idx) - len(shape) :]
    return [Poly() if n == ONE else i for n, i in zip(shape, tail, strict=True)]


def _thin(b: Builder, own: tuple[Poly, ...], common: tuple[Poly, ...]) -> list[bool]:
    """Which axes have a stride that the host sets."""
    tail = common[len(common) - len(own) :]
    return [n != t and b.strides.is_thin(n, t) for n, t in zip(own, tail, strict=True)]


def _stepped(
    b: Builder, a: Array, thin: Sequence[bool], shape: tuple[Poly, ...], idx: Sequence[Poly]
) -> list[Poly]:
    """The subscripts of a broadcast operand, multiplied by the strides of thin axes."""
    own = tuple(map(b.sizes.resolve, a.shape))
    found = aligned(own, idx)
    tail = [b.sizes.resolve(n) for n in shape[len(shape) - len(own) :]]
    return [
        i * b.strides.step(n) if t and n not in (ONE, m) else i
        for i, t, n, m in zip(found, thin, own, tail, strict=True)
    ]


def _common_mask(b: Builder, arrays: Sequence[Array], what: str) -> At | None:
    masked = [a for a in arrays if a.mask is not None]
    if not masked:
        return None
    first = masked[0]
    probe = [sym(f"?{d}", True) for d in range(first.ndim)]
    assert first.mask is not None
    for a in arrays:
        if a.mask is None and a.ndim:
            raise b.refuse(
                "PRT906",
                f"{what} combines a selection by a mask with a whole array",
                "select from every array with the same mask",
            )
        if a.mask is not None and a.mask(probe) != first.mask(probe):
            raise b.refuse(
                "PRT906",
                f"{what} combines selections by different masks",
                "select from every array with the same mask",
            )
    return first.mask


def at_most_one(n: Poly) -> bool:
    """Whether a size is 1, or as a slice may give it: `x[:, k : k + 1]`, of min(k + 1, ...) - k
    columns, or the n - max(n - 1, 0) of `x[:, -1:]`."""
    return n == ONE or any(
        isinstance(a, Apply) and (
            (c == 1 and a.op == "min" and ONE - (n - Poly.atom(a)) in a.args)
            or (c == -1 and a.op == "max" and set(a.args) == {Poly(), n + Poly.atom(a) - ONE})
        )
        for monomial, c in n.terms for a in monomial
    )  # fmt: skip


def _thin_axes(b: Builder, arrays: Sequence[Array], what: str) -> list[Array]:
    """An axis as `x[:, :1]` has it is broadcast like one of length 1: it must not be empty."""
    ndim = max(a.ndim for a in arrays)
    sizes = [[b.sizes.resolve(a.shape[d]) if a.ndim >= -d else ONE for d in range(-ndim, 0)]
             for a in arrays]  # fmt: skip
    wide = [tuple(s[d] for s in sizes if not at_most_one(s[d])) for d in range(ndim)]
    result = []
    for a, own in zip(arrays, sizes, strict=True):
        shape = list(a.shape)
        for d in range(ndim - a.ndim, ndim):
            if wide[d] and at_most_one(own[d]) and own[d] != ONE:
                if all(b.strides.serves(own[d], n) for n in wide[d]):
                    continue
                message = f"{what}: operands could not be broadcast"
                # none and none are none, too
                when = (*extents(b.sizes), *wide[d])
                b.sizes.check(ir.Check("index", ONE, own[d], message, when=when, ones=True))
                shape[d - ndim + a.ndim] = ONE
        result.append(a if shape == list(a.shape) else replace(a, shape=tuple(shape)))
    return result


def map_arrays(
    b: Builder, function: Callable[..., ir.Expr], operands: Sequence[Operand], what: str
) -> Operand:
    """Apply a scalar function elementwise, with broadcasting."""
    if not any(isinstance(o, Array) for o in operands):
        return _typed(b, what, function, [o for o in operands if not isinstance(o, Array)])
    arrays = [as_array(o) for o in operands]
    b.dtypes.same_dtype(*(a.dtype for a in arrays))
    mask, lead = None, 0
    if not any(a.lead for a in arrays):
        mask = _common_mask(b, arrays, what)
    elif same_selection(arrays):
        mask, lead = next((a.mask, a.lead) for a in arrays if a.lead)
    else:
        arrays = [whole(b, a) for a in arrays]
    arrays = _thin_axes(b, arrays, what)
    shape = broadcast_shape(b, [a.shape for a in arrays], what, True)
    thin = [_thin(b, tuple(map(b.sizes.resolve, a.shape)), shape) for a in arrays]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        args = [
            a.at(_stepped(b, a, t, shape, idx)) if isinstance(o, Array) else o
            for o, a, t in zip(operands, arrays, thin, strict=True)
        ]
        return _typed(b, what, function, args)

    start = [sym(f"?{d}", True) for d in range(len(shape))]
    probe = at(start)
    if not shape and mask is None:
        return probe  # a ufunc makes a scalar of 0-d arrays
    if isinstance(probe, ir.Const):
        # `np.imag` of real numbers is as long as an array that nothing reads any more
        for a in arrays:
            b.sizes.tell(a)

    def again(idx: Sequence[Poly]) -> ir.Expr:
        # the next operation asks for the same dtype: a chain would be followed to its start
        return probe if list(idx) == start else at(idx)

    return Array(shape, strengthen(probe.dtype), again, mask=mask, lead=lead)


def _typed(
    b: Builder, what: str, function: Callable[..., ir.Expr], args: Sequence[ir.Expr]
) -> ir.Expr:
    try:
        b.dtypes.same_dtype(*(a.dtype for a in args))
        result = function(*args)
        _check_generic(b, args, result)
        b.dtypes.met_bools(args, result)
        ambiguous.decide(b.dtypes, b.out, function, args, result)
        return result
    except DTypeError as e:
        raise b.refuse("PRT907", str(e)) from None


def _check_generic(b: Builder, args: Sequence[ir.Expr], result: ir.Expr) -> None:
    """What a generic integer dtype cannot promise: small ints that fit."""
    integers = [a.dtype for a in args if a.dtype.var and a.dtype.kind in "iu"]
    decided = isinstance(result, ir.Const) and result.dtype.kind == "b"
    if decided or any(result is a for a in args):
        return  # a comparison that comes out alike for every number of the dtype
    for dtype in integers:
        for a in args:
            known = constant_of(a)
            if a.dtype.weak and isinstance(known, int) and not isinstance(known, bool):
                b.dtypes.literal(known, dtype)


def elementwise(b: Builder, op: str, *operands: Operand) -> Operand:
    """One operation of the table `ir/ops.py`, elementwise."""
    if op == "lshift" and (shifted := shifted_size(b, operands)) is not None:
        return shifted
    result = map_arrays(b, lambda *args: operate(op, *args), operands, f"`{sign(op)}`")
    if op == "pow" and not isinstance(result, Array):
        test_power(b, result)
    return result


def operator(b: Builder, op: str, left: Operand, right: Operand) -> Operand:
    """One of Python's operators: elementwise, but a float64 of NumPy's is a float of Python's, too.

    So `1j * x.sum()` is Python's `complex`, which does not promote arrays; `x.sum() * 1j`, and the
    same of any other dtype, is NumPy's.
    """
    if not (isinstance(left, Array) or isinstance(right, Array)):
        if left.dtype == WEAK_COMPLEX and right.dtype.name == "float64":
            right = cast(right, WEAK_FLOAT)
    test_divisor(b, op, left, right)
    return elementwise(b, op, left, right)


def where(b: Builder, cond: Operand, then: Operand, other: Operand) -> Operand:
    """`np.where` with three arguments: always an array's (strong) dtype."""
    chosen = map_arrays(b, choose, [cond, then, other], "`where`")
    return chosen if b.out.depth else as_array(chosen)


def either(b: Builder, cond: ir.Expr, then: Operand, other: Operand, what: str) -> Operand:
    """As `alternatives`; a store into the one that is meant would be seen through its views."""
    result = alternatives(b, cond, then, other, what)
    arrays = [v for v in (then, other) if isinstance(v, Array)]
    views = [n for v in arrays for n in ([v.view.buffer] if v.view else v.shown_of.split())]
    if isinstance(result, Array) and views:
        shown_of = " ".join(dict.fromkeys(views))
        chosen = any(v.chosen or v.view is not None for v in arrays)
        return replace(result, view=None, shown_of=shown_of, chosen=chosen)
    return result


def alternatives(b: Builder, cond: ir.Expr, then: Operand, other: Operand, what: str) -> Operand:
    """One value or the other by a scalar condition: both of one shape and one dtype.

    Python gives the chosen one as it is; nothing is broadcast or promoted. A literal beside a
    number counts as that number's dtype.
    """
    x, y = as_array(then), as_array(other)
    if x.ndim != y.ndim:
        raise b.refuse("PRT908", f"{what} is {max(x.ndim, y.ndim)}-D or {min(x.ndim, y.ndim)}-D "
                       "depending on the condition", "give both the same shape")  # fmt: skip
    if not x.ndim and isinstance(then, Array) != isinstance(other, Array):
        raise b.refuse("PRT908", f"{what} is an array of no dimensions or a number depending on "
                       "the condition", "make both arrays, or both numbers")  # fmt: skip
    weak = then.dtype.weak or other.dtype.weak
    if (x.ndim or not weak) and x.dtype.name != y.dtype.name:
        raise b.refuse("PRT908", f"{what} is {x.dtype.name} or {y.dtype.name} depending on the "
                       "condition", "convert one of them with `astype`")  # fmt: skip
    for m, n in zip(map(b.sizes.resolve, x.shape), map(b.sizes.resolve, y.shape), strict=True):
        if (m - n).names() & b.sizes.fetched:
            # the host knows both, and only one of them is meant
            raise b.refuse("PRT903", f"{what}: sizes `{m}` and `{n}` differ")
        b.sizes.unify(m, n, what)
    chosen = map_arrays(b, choose, [cond, then, other], what)
    if not isinstance(chosen, Array):
        ambiguous.meet(
            b.dtypes, chosen, *(v.at(()) if isinstance(v, Array) else v for v in (then, other))
        )
    return chosen


def astype(array: Operand, dtype: DType) -> Operand:
    """A copy in another dtype."""
    if not isinstance(array, Array):
        return cast(array, dtype)
    return Array(
        array.shape, dtype, lambda idx: cast(array.at(idx), dtype), None, array.mask, array.lead
    )


def full(shape: Sequence[Poly], value: ir.Expr, dtype: DType) -> Array:
    """An array of one value."""
    filled = cast(value, dtype)
    return Array(tuple(shape), dtype, lambda _: filled)


def transpose(array: Array, order: Sequence[int]) -> Array:
    """Axes in another order; a view stays a view."""

    def back(idx: Sequence[Poly]) -> list[Poly]:
        original = [Poly()] * array.ndim
        for position, axis in enumerate(order):
            original[axis] = idx[position]
        return original

    return reindex(array, tuple(array.shape[a] for a in order), back)


def reindex(
    array: Array, shape: tuple[Poly, ...], index: Callable[[Sequence[Poly]], list[Poly]]
) -> Array:
    """The array whose element `idx` is `array[index(idx)]`: views stay views."""
    assert not array.lead, "a selection is made whole before it is indexed"
    view = array.view
    mask = array.mask
    return Array(
        shape,
        array.dtype,
        lambda idx: array.at(index(idx)),
        replace(view, index=lambda idx: view.index(index(idx))) if view else None,
        (lambda idx: mask(index(idx))) if mask else None,
        shown_of=array.shown_of,
    )


def delayed(array: Array, at: At, shape: tuple[Poly, ...] | None = None) -> Array:
    """A new array value computed from another: not a view."""
    return Array(array.shape if shape is None else shape, array.dtype, at)


# -- reductions ------------------------------------------------------------------------


def normal_axis(b: Builder, axis: int, ndim: int, what: str) -> int:
    """A nonnegative axis. Refuses one that is out of bounds."""
    if not -ndim <= axis < ndim:
        raise b.refuse("PRT903", f"{what}: axis {axis} is out of bounds for a {ndim}-D array")
    return axis % ndim


def reduce(
    b: Builder,
    op: str,
    array: Array,
    axes: Sequence[int] | None,
    keepdims: bool,
    dtype: DType,
    change: Callable[[ir.Expr], ir.Expr] = lambda e: e,
    neutral: ir.Expr | None = None,
) -> Operand:
    """Fold `change(element)` over the axes (all if None), as `dtype`.

    Elements that a mask leaves out count as `neutral`, or as what the fold ignores.
    """
    if not array.ndim:
        return cast(change(array.at(())), dtype)
    if dtype.name == "float16":
        raise b.refuse("PRT907", f"`{op}` in float16 is not supported in kernels",
                       "convert the array with `astype(np.float32)` first")  # fmt: skip
    chosen = range(array.ndim) if axes is None else axes
    kept = [d for d in range(array.ndim) if d not in chosen]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        bound = {d: ir.Axis(b.out.fresh("kpqrs"[min(k, 4)] + "_"), b.sizes.resolve(array.shape[d]))
                 for k, d in enumerate(chosen)}  # fmt: skip
        outer = iter(idx)
        full = [sym(bound[d].name, True) if d in bound else next(outer) for d in range(array.ndim)]
        body = change(array.at(full))
        if array.mask is not None:
            rest = identity(op, body.dtype) if neutral is None else cast(neutral, body.dtype)
            body = choose(array.mask(full), body, rest)
        return ir.Reduce(op, tuple(bound.values()), body, dtype)

    if not kept:
        scalar = at(())
        if not keepdims:
            return scalar
        return Array((ONE,) * array.ndim, dtype, lambda _: scalar)
    if keepdims:
        shape = tuple(ONE if d in chosen else n for d, n in enumerate(array.shape))
        return Array(shape, dtype, lambda idx: at([idx[d] for d in kept]))
    return Array(tuple(array.shape[d] for d in kept), dtype, at)


def identity(op: str, dtype: DType) -> ir.Expr:
    """The value that a fold ignores."""
    if op in ("sum", "any"):
        return cast(integer(0), dtype)
    if op in ("prod", "all"):
        return cast(integer(1), dtype)
    raise DTypeError(f"`{op}` of a selection by a mask is not supported")


def accumulator(dtype: DType) -> DType:
    """The dtype in which NumPy sums and multiplies: at least a 64-bit integer."""
    if dtype.kind in "bi":
        return INT64
    return DType("uint64") if dtype.kind == "u" else strengthen(dtype)


def matmul(b: Builder, x: Array, y: Array, what: str = "`@`") -> Operand:
    """Matrix product of 1-D, 2-D or stacked operands, as `np.matmul`."""
    x, y = whole(b, x), whole(b, y)
    if not x.ndim or not y.ndim:
        raise b.refuse("PRT903", f"{what} requires arrays, not scalars")
    b.dtypes.same_dtype(x.dtype, y.dtype)
    inner = b.sizes.unify(x.shape[-1], y.shape[-2] if y.ndim > 1 else y.shape[0], what)
    rows = x.shape[-2:-1] if x.ndim > 1 else ()
    columns = y.shape[-1:] if y.ndim > 1 else ()
    batch = broadcast_shape(b, [x.shape[:-2], y.shape[:-2]], what)

    def at(idx: Sequence[Poly]) -> ir.Expr:
        k = ir.Axis(b.out.fresh("k_"), b.sizes.resolve(inner))
        lead = idx[: len(batch)]
        tail = idx[len(batch) :]
        left = [*aligned(x.shape[:-2], lead), *tail[: len(rows)], sym(k.name, True)]
        right = [*aligned(y.shape[:-2], lead), sym(k.name, True), *tail[len(rows) :]]
        product = _typed(b, what, lambda u, v: operate("mul", u, v), [x.at(left), y.at(right)])
        if product.dtype.kind == "b":
            return ir.Reduce("any", (k,), product, product.dtype)
        return ir.Reduce("sum", (k,), product, product.dtype)

    shape = (*batch, *rows, *columns)
    probe = at([sym(f"?{d}", True) for d in range(len(shape))])
    if not shape:
        return probe
    return Array(shape, strengthen(probe.dtype), at)


def index_value(poly: Poly) -> ir.Expr:
    """An index as an element of an int64 array."""
    return ir.Value(poly, INT64)
