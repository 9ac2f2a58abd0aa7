"""Factorisations in the right-looking order: what an element gives to others is given at once.

`A[i, j] -= A[i, :j] @ A[:j, j]` waits for all elements of its sum, so the loops over elements run
in order.  Here step k first finishes the elements whose sums have k terms, then adds term k to the
sums of all others (Golub & Van Loan, Matrix Computations, 4th ed., section 3.2: outer product LU;
section 4.2: Cholesky).  Elements are finished from the same values as before; a sum is that of the
same terms, from the first to the last.

It is legal where each element is stored by one iteration only, every other one reads it after that,
and in the new order as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from itertools import product

from porter import ir
from porter.analyses.accesses import Access
from porter.analyses.aliases import under_one_name
from porter.analyses.dependence import Extra, Nest, Site, never
from porter.analyses.reductions import has_data
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.effects import defs_in, exposed_scalars
from porter.ir.walk import substitute, walk
from porter.sizes.affine import combine
from porter.sizes.polynomial import Poly, maximum, sym
from porter.transforms.loops.nests import farthest
from porter.transforms.loops.orders.parts import Part, joined, not_negative, staged
from porter.transforms.loops.orders.sums import Sum, domain, is_own, sums_of


def right_looking(loop: ir.For, after: set[str], context: Context) -> list[ir.Stmt] | None:
    """A nest that finishes elements one after another as a host loop over the terms of their sums;
    None for other nests, and where that is wrong."""
    if loop.step != 1 or defs_in(loop.body).scalars & (after | exposed_scalars(loop.body)):
        return None
    sums = sums_of(loop)
    if sums is None or not any(map(_grows, sums)):
        return None
    if not all(_is_known(s, context) for s in sums):
        return None
    if under_one_name(loop, context.program) != loop:
        return None
    nest = Nest((), context.here.loops, context.buffers)
    if not (_begin(sums, nest) and _is_final(sums, nest) and _is_single(sums, nest)):
        return None
    finished = _order(sums, nest)
    return None if finished is None else _steps(loop, sums, finished, context)


def _grows(s: Sum) -> bool:
    """Whether a table's elements have sums of different lengths: few of them are ready at once."""
    return len(s.loops) == 2 and any(s.count.coefficient(r.index) != 0 for r in s.loops)


def _is_known(s: Sum, context: Context) -> bool:
    """Whether the host knows where elements are; their dtype is that of the sum, as each term is
    rounded to it."""
    bounds = [p for r in s.loops for p in (r.lo, r.hi)]
    if has_data((*bounds, *s.tests)) or not all(r.lo.is_nonneg() for r in s.loops):
        return False
    return replace(s.term.dtype, weak=False) == context.buffers[s.store.buffer].dtype


# -- whether it is legal -----------------------------------------------------------------------


def _written(s: Sum, outside: int = 0) -> Site:
    """The store, inside all loops but those outside."""
    access = Access(s.store.buffer, s.store.index, True, frozenset(), s.store.origin)
    return Site(access, s.loops[outside:], _guards(s), s.at)


def _read(s: Sum, outside: int = 0, *, terms: bool) -> list[Site]:
    """The elements of others that the terms need, or what follows on."""
    loops = s.loops[outside:]
    if terms:
        return _loads(s, [s.term], (*loops, Range(s.k, Poly(), s.count)))
    others = [e for w in s.rest for e in walk(w.body) if not _is_itself(e, s)]
    return _loads(s, [e for e in others if isinstance(e, ir.Load)], loops)


def _is_itself(e: ir.Expr, s: Sum) -> bool:
    return isinstance(e, ir.Load) and is_own(e, s.store)


def _loads(s: Sum, bodies: Sequence[ir.Expr], scope: tuple[Range, ...]) -> list[Site]:
    """The elements that expressions read."""
    loads = dict.fromkeys(e for body in bodies for e in walk(body) if isinstance(e, ir.Load))
    accesses = [Access(e.buffer, e.index, False, frozenset(), s.store.origin) for e in loads]
    return [Site(a, scope, _guards(s), s.at) for a in accesses]


def _guards(s: Sum) -> tuple[tuple[ir.Expr, bool], ...]:
    """What holds for the elements, as branches around their accesses."""
    return tuple((not_negative(e), False) for e in s.tests)


def _reads(s: Sum, outside: int = 0) -> list[Site]:
    return [*_read(s, outside, terms=True), *_read(s, outside, terms=False)]


def _meet(nest: Nest, first: Site, second: Site, level: int, extra: Extra | None = None) -> bool:
    """Whether both may be one element, in iterations that differ first at the level."""
    same = first.access.buffer == second.access.buffer
    return same and nest.meet(first, second, level, extra)


def _begin(sums: Sequence[Sum], free: Nest) -> bool:
    """Whether sums begin with what no iteration stores: all of them begin before the first step.

    A launch that stores into one of two arguments asks whether they are one array; others do not.
    """
    for a in sums:
        found = [] if a.start is None else _loads(a, [a.start], a.loops)
        for r, b in product(found, sums):
            both = [free.buffers[n].parameter for n in (r.access.buffer, b.store.buffer)]
            apart = a.store.buffer == b.store.buffer or r.access.buffer == b.store.buffer
            if _meet(free, r, _written(b), 0) or (all(both) and not apart):
                return False
    return True


def _is_final(sums: Sequence[Sum], free: Nest) -> bool:
    """Whether iterations only read elements of others that are finished by then."""
    for (p, a), (q, b) in product(enumerate(sums), repeat=2):
        outer = replace(free, loops=a.loops[:1])
        if any(_meet(outer, r, _written(b, 1), 0) for r in _reads(a, 1)):
            return False
        if b.at > a.at and any(_meet(outer, r, _written(b, 1), 1) for r in _reads(a, 1)):
            return False
        if b.at == a.at:
            # one iteration runs both in their order
            inner, n = replace(free, loops=a.loops), len(a.loops)
            later = range(1, n + 1) if q > p else range(1, n)
            if any(_meet(inner, r, _written(b, n), x) for r in _reads(a, n) for x in later):
                return False
    return True


def _is_single(sums: Sequence[Sum], free: Nest) -> bool:
    """Whether no two iterations store into one element."""
    for s in sums:
        for n in range(len(s.loops)):
            nest = replace(free, loops=s.loops[: n + 1])
            if _meet(nest, _written(s, n + 1), _written(s, n + 1), n):
                return False
    pairs = [(a, b) for k, a in enumerate(sums) for b in sums[:k]]
    return not any(_meet(free, _written(a), _written(b), 0) for a, b in pairs)


def _order(sums: Sequence[Sum], free: Nest) -> list[Sum] | None:
    """The order in which sums of equally many terms are finished; None where there is none, or
    where the terms of a step need an element that is finished later."""
    before: dict[int, set[int]] = {n: set() for n in range(len(sums))}
    for (p, a), (q, b) in product(enumerate(sums), repeat=2):
        terms = [(r, sym(a.k, True)) for r in _read(a, terms=True)]
        follow = [(r, a.count) for r in _read(a, terms=False)]
        if any(_meet(free, r, _written(b), 0, _longer(b, n)) for r, n in (*terms, *follow)):
            return None
        if b.rest and any(_meet(free, r, _written(b), 0, _as_long(b, n)) for r, n in follow):
            before[p].add(q)
    try:
        return [sums[n] for n in TopologicalSorter(before).static_order()]
    except CycleError:
        return None


def _longer(s: Sum, terms: Poly) -> Extra:
    """Asks for elements whose sums have more terms than there were so far."""
    return lambda pair: pair.system.at_least(
        pair.row(s.count, "'"), combine(pair.row(terms, ""), 1, {"": 1}, 1)
    )


def _as_long(s: Sum, terms: Poly) -> Extra:
    """Asks for elements whose sums have as many."""
    return lambda pair: pair.system.equal(pair.row(s.count, "'"), pair.row(terms, ""))


# -- the steps ---------------------------------------------------------------------------------


def _steps(
    loop: ir.For, sums: Sequence[Sum], finished: Sequence[Sum], context: Context
) -> list[ir.Stmt] | None:
    """The loop over terms: elements are finished, and then each gives its term to others."""
    name = context.fresh("k")
    k = sym(name, True)
    counts = [_most(s) for s in sums]
    ends = [_finishing(s, k) for s in finished if s.rest]
    if any(x is None for x in (*counts, *ends)):
        return None
    most = reduce(maximum, (c + 1 for c in counts if c is not None))
    step = Range(name, Poly(), most)
    begun = joined([_begun(s, s.start) for s in sums if s.start is not None], step)
    adding = joined([_adding(s, k) for s in sums], step)
    first = [staged(p, step, context) for p in begun]
    ending = [p for p in ends if p is not None and not never(p.tests, (step,))]
    inside = [staged(p, step, context) for p in (*ending, *adding)]
    if any(s is None for s in (*first, *inside)):
        return None
    text = "each step finishes the elements with complete sums, then adds a term to all other sums"
    origin = ir.Origin(loop.origin.span, text)
    body = tuple(s for s in inside if s is not None)
    return [*(s for s in first if s is not None), ir.For(name, Poly(), most, 1, body, origin)]


def _most(s: Sum) -> Poly | None:
    """The most terms that a sum has."""
    count: Poly | None = s.count
    for r in s.loops[::-1]:
        if count is None:
            return None
        count = farthest(count, ir.Axis(r.index, r.hi, r.lo), up=True)
    return count


def _names(s: Sum) -> tuple[str, ...]:
    """The indices of a sum's elements."""
    return tuple(r.index for r in s.loops)


def _begun(s: Sum, start: ir.Expr) -> Part:
    """What the terms are added to."""
    names, tests = _names(s), domain(s)
    return Part(names, tests, (replace(s.store, body=start),))


def _finishing(s: Sum, k: Poly) -> Part | None:
    """What follows on for the elements whose sums have `k` terms."""
    names, tests = _names(s), domain(s)
    if s.count.constant is None and not any(s.count.coefficient(n) in (1, -1) for n in names):
        return None
    return Part(names, (*tests, s.count - k, k - s.count), s.rest)


def _adding(s: Sum, k: Poly) -> Part:
    """Term `k` for the elements whose sums have more terms."""
    names, tests = _names(s), domain(s)
    term = substitute(s.term, {s.k: k})
    own = ir.Load(s.store.buffer, s.store.index, term.dtype)
    store = replace(s.store, body=ir.Op(s.op, (own, term), own.dtype))
    return Part(names, (*tests, s.count - 1 - k), (store,))
