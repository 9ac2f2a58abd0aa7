"""Sums of products over shared indices: einsum, tensordot, inner, vdot, outer, kron, cross."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from porter import ir
from porter.dtypes.dtype import DType, promote, strengthen
from porter.ir.scalars import cast, constant_of, operate
from porter.lowering.arrays.calculus import (
    ONE,
    Operand,
    as_array,
    elementwise,
    normal_axis,
    reindex,
)
from porter.lowering.arrays.rearrange import along, flat, raised, settled
from porter.lowering.functions.registry import Call, function
from porter.lowering.functions.ufuncs import strong
from porter.lowering.library import product
from porter.lowering.state.builder import Builder
from porter.resolve.values import Array, Text, Value
from porter.sizes.polynomial import Poly, maximum, sym

Letters = Sequence[str]


def contract(
    b: Builder,
    operands: Sequence[tuple[Array, Letters]],
    output: Letters,
    what: str,
    *,
    broadcasts: bool = False,
) -> Operand:
    """The product of the operands, summed over the letters that the output lacks.

    With `broadcasts` an axis of size 1 is repeated, as `einsum` does; `dot` and its like raise.
    """
    sizes: dict[str, Poly] = {}
    for array, letters in operands:
        for letter, n in zip(letters, array.shape, strict=True):
            known = sizes.get(letter)
            if known is None or (broadcasts and known == ONE):
                sizes[letter] = b.sizes.resolve(n)
            elif not (broadcasts and n == ONE):
                sizes[letter] = b.sizes.unify(known, n, what)
    b.dtypes.same_dtype(*(a.dtype for a, _ in operands))
    dtype = strengthen(operands[0][0].dtype)
    for array, _ in operands[1:]:
        dtype = strengthen(promote(dtype, array.dtype))
    summed = [letter for letter in sizes if letter not in output]

    def at(idx: Sequence[Poly]) -> ir.Expr:
        bound = {k: ir.Axis(b.out.fresh(f"{k}_"), b.sizes.resolve(sizes[k])) for k in summed}
        where = dict(zip(output, idx, strict=True))
        where |= {k: sym(a.name, True) for k, a in bound.items()}
        product = _product(operands, where, dtype)
        if not bound:
            return product
        return ir.Reduce(
            "any" if dtype.kind == "b" else "sum", tuple(bound.values()), product, dtype
        )

    shape = tuple(b.sizes.resolve(sizes[k]) for k in output)
    return Array(shape, dtype, at) if shape else at(())


def _product(
    operands: Sequence[tuple[Array, Letters]], where: dict[str, Poly], dtype: DType
) -> ir.Expr:
    result: ir.Expr | None = None
    for array, letters in operands:
        at = [Poly() if n == ONE else where[k] for k, n in zip(letters, array.shape, strict=True)]
        factor = cast(array.at(at), dtype)
        result = factor if result is None else operate("mul", result, factor)
    assert result is not None
    return result


@function("numpy.einsum", "*operands optimize=False")
def _einsum(call: Call) -> Value:
    subscripts, *values = call.value("operands")
    if not isinstance(subscripts, Text):
        raise call.refuse(
            "PRT901",
            "`einsum` is called without a constant subscript string",
            "pass the subscripts as a literal string",
        )
    arrays = [as_array(call.ev.as_numeric(v, call.node)) for v in values]
    text = _without_ellipses(subscripts.value.replace(" ", ""), [a.ndim for a in arrays])
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if not arrow:
        right = "".join(sorted(k for k in set(left) - {","} if left.count(k) == 1))
    fits = len(terms) == len(arrays) and all(
        len(t) == a.ndim for t, a in zip(terms, arrays, strict=False)
    )
    if not fits or len(set(right)) != len(right) or not set(right) <= set(left):
        raise call.refuse("PRT903", f"the subscripts `{text}` do not fit the arrays")
    if len(arrays) == 1 and set(terms[0]) == set(right):
        return _rearranged(call.b, arrays[0], terms[0], right)
    parts = [(settled(call.b, a), tuple(t)) for a, t in zip(arrays, terms, strict=True)]
    made = contract(call.b, parts, right, "`einsum`", broadcasts=True)
    if len(parts) != 2 or set(right) == set(left) - {","}:
        return made
    shown = f"np.einsum({text!r}, {{0}}, {{1}})"
    return product(call.ev, shown, [a for a, _ in parts], made, blas=False)


def _without_ellipses(text: str, ndims: Sequence[int]) -> str:
    """The subscripts with letters for the axes that `...` stands for, which broadcast.

    Without `->` they come first in the result, in front of the letters that occur once.
    """
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if "..." not in text or len(terms) != len(ndims):
        return text
    counts = [n - len(t.replace("...", "")) if "..." in t else 0
              for t, n in zip(terms, ndims, strict=True)]  # fmt: skip
    most = max(counts)
    letters = [k for k in ascii_letters if k not in text]
    if most > len(letters) or any(n < 0 for n in counts):
        return text  # which fits no arrays
    axes = "".join(letters[:most])
    named = [t.replace("...", axes[most - n :]) for t, n in zip(terms, counts, strict=True)]
    if not arrow:
        once = sorted(k for k in set(left) - {",", "."} if left.count(k) == 1)
        arrow, right = "->", "...{}".format("".join(once))
    return ",".join(named) + arrow + right.replace("...", axes)


def _rearranged(b: Builder, array: Array, letters: str, output: str) -> Value:
    """A transpose or a diagonal: a view."""
    sizes: dict[str, Poly] = {}
    for k, n in zip(letters, array.shape, strict=True):
        sizes[k] = b.sizes.unify(sizes[k], n, "`einsum`") if k in sizes else b.sizes.resolve(n)

    def back(idx: Sequence[Poly]) -> list[Poly]:
        where = dict(zip(output, idx, strict=True))
        return [where[k] for k in letters]

    return reindex(array, tuple(sizes[k] for k in output), back)


def _letters(count: int, first: str) -> list[str]:
    return [chr(ord(first) + k) for k in range(count)]


@function("numpy.tensordot", "a b axes=2")
def _tensordot(call: Call) -> Value:
    x, y = settled(call.b, call.array("a")), settled(call.b, call.array("b"))
    given = call.value("axes")
    if isinstance(given, tuple):
        pair = [v if isinstance(v, tuple) else (v,) for v in given]
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise call.refuse("PRT903", "`tensordot` requires equally many axes of both arrays")
        left, right = ([_constant(call, v) for v in p] for p in pair)
    else:
        n = _constant(call, given)
        left, right = list(range(x.ndim - n, x.ndim)), list(range(n))
    left = [normal_axis(call.b, i, x.ndim, "`tensordot`") for i in left]
    right = [normal_axis(call.b, j, y.ndim, "`tensordot`") for j in right]
    made = as_array(paired(call.b, x, y, left, right, "`tensordot`"))
    shown = f"np.tensordot({{0}}, {{1}}, axes=({left}, {right}))"
    return product(call.ev, shown, (x, y), made) if left else made


def paired(
    b: Builder, x: Array, y: Array, left: Sequence[int], right: Sequence[int], what: str
) -> Operand:
    """The sum over pairs of axes; the other ones of x, then those of y, remain."""
    of_x, of_y = _letters(x.ndim, "i"), _letters(y.ndim, "p")
    for i, j in zip(left, right, strict=True):
        of_y[j] = of_x[i]
    shared = set(of_x) & set(of_y)
    output = [k for k in (*of_x, *of_y) if k not in shared]
    return contract(b, [(settled(b, x), of_x), (settled(b, y), of_y)], output, what)


def _constant(call: Call, value: object) -> int:
    known = value if isinstance(value, int) else constant_of(value)
    if not isinstance(known, int):
        raise call.refuse(
            "PRT903", f"the axes of `{call.name}` must be constants", "write the axes as literals"
        )
    return known


@function("numpy.inner", "a b")
def _inner(call: Call) -> Value:
    x, y = call.array("a"), call.array("b")
    if not x.ndim or not y.ndim:
        given = (call.operand(n) for n in ("a", "b"))
        strong = [v if isinstance(v, Array) else cast(v, strengthen(v.dtype)) for v in given]
        return elementwise(call.b, "mul", *strong)
    made = paired(call.b, x, y, [x.ndim - 1], [y.ndim - 1], "`inner`")
    return product(call.ev, "np.inner({0}, {1})", (x, y), made)


@function("numpy.vdot", "a b")
def _vdot(call: Call) -> Value:
    """The product of all elements in a row, the first array conjugated."""
    x, y = (flat(call.b, settled(call.b, call.array(n))) for n in ("a", "b"))
    x = as_array(elementwise(call.b, "conj", x))
    return contract(call.b, [(x, ["k"]), (y, ["k"])], [], "`vdot`")


@function("numpy.outer", "a b")
def _outer(call: Call) -> Value:
    # numbers become arrays first, with the dtype of one
    given = (call.operand(n) for n in ("a", "b"))
    arrays = (as_array(strong(v)) for v in given)
    x, y = (flat(call.b, settled(call.b, v)) for v in arrays)
    column = Array((*x.shape, ONE), x.dtype, lambda idx: x.at(idx[: x.ndim]))
    return elementwise(call.b, "mul", column, y)


@function("numpy.kron", "a b")
def _kron(call: Call) -> Value:
    """Element k along an axis is the product of those at k // n and k % n, n being b's size."""
    x, y = settled(call.b, call.array("a")), settled(call.b, call.array("b"))
    ndim = max(x.ndim, y.ndim)
    x, y = raised(x, ndim), raised(y, ndim)
    sizes = [call.b.sizes.resolve(n) for n in y.shape]
    for d, n in enumerate(sizes):
        # two slices of negative length must not give a positive one
        total = call.b.sizes.resolve(x.shape[d]) * (n if n.is_nonneg() else maximum(n, Poly()))
        x = along(x, d, total, n.__rfloordiv__)
        y = along(y, d, total, n.__rmod__)
    return elementwise(call.b, "mul", x, y)


@function("numpy.cross", "a b axis=-1")
def _cross(call: Call) -> Value:
    """Component k is a[k + 1] b[k + 2] - a[k + 2] b[k + 1], the positions modulo 3."""
    x, y = settled(call.b, call.array("a")), settled(call.b, call.array("b"))
    axis = int(call.constant("axis"))
    if axis != -1 and x.ndim != y.ndim:
        raise call.refuse(
            "PRT901",
            "`cross` along this axis of arrays with different ndim is not supported",
            "move the vectors to the last axis first",
        )

    def turned(v: Array, by: int) -> Array:
        d = normal_axis(call.b, axis, v.ndim, "`cross`")
        call.b.sizes.unify(
            v.shape[d], Poly.of(3), "`cross` of vectors that have not three components"
        )
        return along(v, d, Poly.of(3), lambda k: (k + by) % 3)

    first = elementwise(call.b, "mul", turned(x, 1), turned(y, 2))
    second = elementwise(call.b, "mul", turned(x, 2), turned(y, 1))
    return elementwise(call.b, "sub", first, second)
