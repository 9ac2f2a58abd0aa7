"""Index arithmetic that many NumPy functions share: along one axis, flat, reshaped."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from porter import ir
from porter.ir.walk import walk
from porter.lowering.arrays.calculus import ONE, delayed, reindex
from porter.lowering.state.builder import Builder
from porter.lowering.state.facts import lowest, never_negative
from porter.resolve.values import Array
from porter.sizes.polynomial import Apply, Poly, is_power, power, sym
from porter.sizes.shapes import lengths, product


def along(array: Array, axis: int, n: Poly, position: Callable[[Poly], Poly]) -> Array:
    """The array of n elements along an axis, the k-th being the one at `position(k)`."""

    def at(idx: Sequence[Poly]) -> list[Poly]:
        return [*idx[:axis], position(idx[axis]), *idx[axis + 1 :]]

    shape = (*array.shape[:axis], n, *array.shape[axis + 1 :])
    return delayed(array, lambda idx: array.at(at(idx)), shape)


def settled(b: Builder, array: Array, name: str = "part") -> Array:
    """The array; under a name where its elements are folds, which are made for all or none.

    A fold gets a statement of its own, outside of any condition on the index: inside of one
    it would be made also where the index is not one of the array's.
    """
    if array.view is not None or array.mask is not None:
        return array
    element = array.at([sym(f"?{d}", True) for d in range(array.ndim)])
    return b.define(name, array) if any(isinstance(e, ir.Reduce) for e in walk(element)) else array


def readonly(array: Array, why: str) -> Array:
    """The array as a view that nothing may be stored through."""
    return array if array.view is None else replace(array, view=replace(array.view, readonly=why))


def raised(array: Array, ndim: int) -> Array:
    """With axes of length 1 in front, up to `ndim`."""
    extra = max(ndim - array.ndim, 0)
    if not extra:
        return array
    return reindex(array, (ONE,) * extra + array.shape, lambda idx: list(idx[extra:]))


def reshape(b: Builder, array: Array, shape: tuple[Poly, ...]) -> Array:
    """Row-major order; at most one size may be -1. A view where NumPy gives one."""
    old = _whole(b, array.shape)
    total = product(old)
    unknown = [d for d, n in enumerate(shape) if n.constant == -1]
    if len(unknown) > 1:
        raise b.refuse(
            "PRT903", "`reshape` accepts only one size of -1", "write out all sizes but one"
        )
    known = product([b.sizes.resolve(n) for n in shape if n.constant != -1])
    if unknown:
        if not never_negative(b.sizes, known - 1):
            b.sizes.check(
                ir.Check("index", ONE, known, "cannot reshape an array to an unknown size and 0")
            )
        shape = tuple(
            _quotient(b, total, known) if d in unknown else n for d, n in enumerate(shape)
        )
        b.sizes.unify(_quotient(b, total, known) * known, total, "cannot reshape the array")
    else:
        b.sizes.unify(total, known, "cannot reshape the array")
    groups = _groups(old, tuple(map(b.sizes.resolve, shape)))

    def back(idx: Sequence[Poly]) -> list[Poly]:
        return [i for x, y in groups
                for i in unflatten(flatten(idx[y], shape[y]), old[x])]  # fmt: skip

    result = reindex(array, shape, back)
    merges = any(sum(n != ONE for n in old[x]) > 1 for x, _ in groups)
    if array.view is None or result.view is None or not merges:
        return result
    return _where_contiguous(b, array, result)


def _whole(b: Builder, shape: Sequence[Poly]) -> tuple[Poly, ...]:
    """The extents, of which at most one may be negative."""
    sizes = [b.sizes.resolve(n) for n in shape]
    return tuple(sizes) if all(never_negative(b.sizes, n) for n in sizes) else lengths(sizes)


def _where_contiguous(b: Builder, array: Array, result: Array) -> Array:
    """A view where the elements lie one after the other, as they do in a contiguous argument.

    NumPy copies the axes of a slice that become one, unless the slice has but one row, say.
    """
    assert array.view is not None and result.view is not None
    whole = _whole(b, b.out.buffers[array.view.buffer].shape)
    idx = [sym(f"?{d}", True) if n != ONE else Poly() for d, n in enumerate(array.shape)]
    start = flatten(array.view.index([Poly() for _ in idx]), whole)
    if flatten(array.view.index(idx), whole) - start == flatten(idx, _whole(b, array.shape)):
        return replace(result, view=replace(result.view, contiguous=True))
    return replace(result, view=None, shown_of=array.view.buffer)


def _quotient(b: Builder, total: Poly, known: Poly) -> Poly:
    """`total // known`, without the division where a factor can be taken out of the product."""
    total, known = _without_powers(b, total, known)
    rest = total
    for monomial, c in known.terms if len(known.terms) == 1 else ():
        for atom in monomial:
            terms = [list(m) for m, _ in rest.terms]
            if not all(atom in m for m in terms):
                return total // known
            for m in terms:
                m.remove(atom)
            rest = Poly(tuple((tuple(m), k) for m, (_, k) in zip(terms, rest.terms, strict=True)))
        if all(k % c == 0 for _, k in rest.terms):
            return rest // c
    return total // known


def _without_powers(b: Builder, total: Poly, known: Poly) -> tuple[Poly, Poly]:
    """`r**k` and `r**i`, where i is at most k, both without the factor `r**i`."""
    if len(total.terms) != 1 or len(known.terms) != 1:
        return total, known
    (many, c), (few, _) = total.terms[0], known.terms[0]
    for one, other in itertools.product(filter(is_power, many), filter(is_power, few)):
        (base, high), (same, low) = one.args, other.args
        if base == same and never_negative(b.sizes, lowest(b.sizes, high - low)):
            left = [Poly.atom(a) for a in many if a != one]
            fewer = [Poly.atom(a) for a in few if a != other]
            return power(base, high - low) * c * product(left), product(fewer) * known.terms[0][1]
    return total, known


def _groups(old: tuple[Poly, ...], new: tuple[Poly, ...]) -> list[tuple[slice, slice]]:
    """Runs of old and new axes with equal products: within each, positions are counted on."""
    groups, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        pairs = ((p, q) for p in range(i + 1, len(old) + 1) for q in range(j + 1, len(new) + 1))
        equal = (p for p in pairs if product(old[i : p[0]]) == product(new[j : p[1]]))
        p, q = next(equal, (len(old), len(new)))
        groups.append((slice(i, p), slice(j, q)))
        i, j = p, q
    if i < len(old) or j < len(new):
        # axes of length 1 that are left over on one side
        if not groups:
            return [(slice(i, len(old)), slice(j, len(new)))]
        x, y = groups.pop()
        groups.append((slice(x.start, len(old)), slice(y.start, len(new))))
    return groups


def flat(b: Builder, array: Array) -> Array:
    """All elements in row-major order, as a view where NumPy gives one."""
    result = array if array.ndim == 1 else reshape(b, array, (Poly.of(-1),))
    if array.view is None or result.view is None or result.view.contiguous:
        return result
    return _where_contiguous(b, array, result)


def flatten(idx: Sequence[Poly], shape: Sequence[Poly]) -> Poly:
    """The position in row-major order."""
    position = Poly()
    for i, n in zip(idx, shape, strict=True):
        position = position if n == ONE else _rejoined(position, i, n)
    return position


def _rejoined(position: Poly, i: Poly, n: Poly) -> Poly:
    """`position * n + i`: simply q where the two are `q // n` and `q % n`."""
    atom = next(i.atoms(), None)
    if isinstance(atom, Apply) and atom.op == "%" and i == Poly.atom(atom):
        whole, divisor = atom.args
        if divisor == n and whole // n == position:
            return whole
    return position * n + i


def unflatten(position: Poly, shape: Sequence[Poly]) -> list[Poly]:
    """The subscripts of a position in row-major order."""
    if shape and shape[0] == ONE:
        return [Poly(), *unflatten(position, shape[1:])]
    result: list[Poly] = []
    for n in reversed(shape[1:]):
        n = ONE if n.constant == 0 else n  # no position exists
        result.append(position % n)
        position = position // n
    return [position, *reversed(result)] if shape else []
