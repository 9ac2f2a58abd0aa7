"""`y = min(max(y + b, low), high)`: steps that add to the old value, and bound what comes out.

A step may be any nesting of sums, extremes, Python's `max` and `min`, branches that set the value
to a bound (`if y > c: y = c`), and choices that do not depend on the old value.  The old value
stands once in each; that of a comparison is the one that is chosen or replaced.  A step is read
from the inside out: what is added, or bounds, after it is composed with it (`_then`).

That the bounds of a step hold only where all is finite, and integers are small, the schedule
knows: it runs other steps in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce

from porter import ir
from porter.analyses.scans import neutral
from porter.dtypes.dtype import BOOL, DType
from porter.ir.recurrences import endless
from porter.ir.scalars import cast, constant_of, operate
from porter.ir.walk import walk
from porter.transforms.loops.scans.second_order import has_kernels, negative

#: what takes the larger, and the smaller, of two; where one is NaN, steps run in order
_LARGER = ("maximum", "fmax")
#: comparisons, and whether the left side is the larger one
_COMPARED = {"gt": True, "ge": True, "lt": False, "le": False}


@dataclass(frozen=True)
class Bound:
    """`min(max(y + body, low), high)`, `low` being no larger than `high`."""

    body: ir.Expr
    low: ir.Expr
    high: ir.Expr

    @property
    def parts(self) -> tuple[ir.Expr, ...]:
        """What is added, and the bounds."""
        return self.body, self.low, self.high

    @property
    def nodes(self) -> Iterator[ir.Expr]:
        """All that these consist of."""
        return (x for e in self.parts for x in walk(e))

    def changed(self, change: Callable[[ir.Expr], ir.Expr | None]) -> Bound | None:
        """The step with other parts, if there are such."""
        body, low, high = map(change, self.parts)
        if body is None or low is None or high is None:
            return None
        return Bound(body, low, high)


def bounded(step: ir.Expr, old: ir.Expr) -> Bound | None:
    """A step that bounds the old value and what it adds; None if it is another one.

    Sums without a bound are linear, and extremes without a sum are running ones, unless they bound
    from both sides.  Numbers are those of linear steps; Python's integers are only counted.
    """
    if not has_kernels(replace(step.dtype, weak=False)):
        return None
    found = _read(step, old)
    if found is None or not (found.low or found.high):
        return None
    if found.body is None and not (found.low and found.high):
        return None
    made = _filled(found, step.dtype)
    return None if any(x == old or isinstance(x, ir.Reduce) for x in made.nodes) else made


@dataclass(frozen=True)
class _Parts:
    """The parts of a step, those that there are."""

    body: ir.Expr | None = None
    low: ir.Expr | None = None
    high: ir.Expr | None = None
    #: where the parts are those of the step; elsewhere nothing is known of it
    holds: ir.Expr | None = None
    #: whether there is a bound only in some cases
    mixed: bool = False
    #: whether something was added to bounds
    shifted: bool = False

    @property
    def bounds(self) -> bool:
        """Whether it has a bound."""
        return self.low is not None or self.high is not None


def _filled(found: _Parts, dtype: DType) -> Bound:
    """A step with all parts; where they are not those of the step, what it adds has no limit."""
    most = endless(dtype)
    body = found.body or ir.Const(neutral("sum", dtype), dtype)
    if found.holds is not None:
        body = ir.Select(found.holds, body, ir.Const(most, dtype), dtype)
    return Bound(body, found.low or ir.Const(-most, dtype), found.high or ir.Const(most, dtype))


def _has(e: ir.Expr, old: ir.Expr) -> bool:
    return any(x == old for x in walk(e))


def _read(e: ir.Expr, old: ir.Expr) -> _Parts | None:
    """The parts of an expression with the old value; None if that stands in it otherwise."""
    if e == old:
        return _Parts()
    match e:
        case ir.Op("add" | "sub" | "maximum" | "fmax" | "minimum" | "fmin", (left, right)):
            first = _has(left, old)
            if first == _has(right, old) or (e.op == "sub" and not first):
                return None
            inside, other = (left, right) if first else (right, left)
            if e.op in ("add", "sub"):
                then = _Parts(body=negative(other) if e.op == "sub" else other)
            else:
                then = _limited(other, below=e.op in _LARGER)
            return _then(_read(inside, old), then, e.dtype)
        case ir.Select(cond):
            return _chosen(e, old) if _has(cond, old) else _cases(e, old)
    return None


def _limited(limit: ir.Expr, *, below: bool) -> _Parts:
    """A bound from below, or from above; of a number that is none, `x == x` needs no test."""
    match limit:
        case ir.Select(ir.Op("eq", (left, right)), then) if left == right == then:
            known = constant_of(then)
            limit = then if known is not None and known == known else limit
    return _Parts(low=limit) if below else _Parts(high=limit)


def _then(first: _Parts | None, then: _Parts, dtype: DType) -> _Parts | None:
    """Two steps, one after the other, as one.

    Integers that wrap around in between are seen in the result only if it has one sum, and bounds
    either before it or after it.
    """
    if first is None:
        return None
    shifted = then.body is not None and first.bounds
    if dtype.kind != "f":
        several = first.mixed or (first.body is not None and not first.shifted)
        if (shifted and several) or (then.bounds and (shifted or first.shifted)):
            return None
    low, high = (
        _sum(bound, then.body, dtype) if bound else None for bound in (first.low, first.high)
    )
    if then.low is not None:
        low = _extreme("maximum", low, then.low, dtype) if low else then.low
        high = _extreme("maximum", high, then.low, dtype) if high else None
    if then.high is not None:
        low = _extreme("minimum", low, then.high, dtype) if low else None
        high = _extreme("minimum", high, then.high, dtype) if high else then.high
    return _Parts(
        _sum(first.body, then.body, dtype), low, high, _all(first.holds, then.holds),
        first.mixed or then.mixed, first.shifted or shifted,
    )  # fmt: skip


def _sum(left: ir.Expr | None, right: ir.Expr | None, dtype: DType) -> ir.Expr | None:
    if left is None or right is None:
        return left or right
    if constant_of(left) == 0:
        return right
    if isinstance(right, ir.Op) and right.op == "neg":
        return ir.Op("sub", (left, right.args[0]), dtype)
    return ir.Op("add", (left, right), dtype)


def _extreme(op: str, left: ir.Expr, right: ir.Expr, dtype: DType) -> ir.Expr:
    """The larger or the smaller one, as a literal if both are."""
    values = constant_of(left), constant_of(right)
    match values:
        case (int() | float() as one, int() | float() as two) if one == one and two == two:
            return left if (one >= two) == (op == "maximum") else right
    return ir.Op(op, (left, right), dtype)


def _all(*tests: ir.Expr | None) -> ir.Expr | None:
    some = [test for test in tests if test is not None]
    return reduce(partial(operate, "and"), some) if some else None


def _cases(e: ir.Select, old: ir.Expr) -> _Parts | None:
    """A step in each case of a choice; one without the old value has a value as both bounds."""
    one, two = (_read(x, old) if _has(x, old) else _Parts(low=x, high=x) for x in (e.then, e.other))
    if one is None or two is None:
        return None
    every = [_filled(replace(parts, holds=None), e.dtype).parts for parts in (one, two)]
    body, low, high = (
        a if a == b else replace(e, then=a, other=b) for a, b in zip(*every, strict=True)
    )
    otherwise = operate("not", e.cond), e.cond
    tests = (
        None if parts.holds is None else operate("or", other, parts.holds)
        for other, parts in zip(otherwise, (one, two), strict=True)
    )
    return _Parts(
        body if one.body or two.body else None,
        low if one.low or two.low else None,
        high if one.high or two.high else None,
        _all(*tests),
        one.mixed
        or two.mixed
        or (not one.low) != (not two.low)
        or (not one.high) != (not two.high),
        one.shifted or two.shifted,
    )


def _chosen(e: ir.Select, old: ir.Expr) -> _Parts | None:
    """`c if y > c else y`, or what bounds `y` from below in place of the last one."""
    found = _compared(e, old)
    if found is None:
        return None
    y, limit, larger, then, other = found
    first, kept = _read(y, old), _read(other, y)
    if kept is None:
        return None
    bound = _limited(limit, below=not larger)
    if then == limit and kept.body is None:
        # all of it is a bound only if the other ones leave room for this one
        room = [ir.Op("le", (kept.low, limit), BOOL)] if kept.low else []
        room += [ir.Op("le", (limit, kept.high), BOOL)] if kept.high else []
        bound = replace(bound, holds=_all(*room))
        return _then(_then(first, kept, e.dtype), bound, e.dtype)
    if constant_of(limit) == 0 and kept == _Parts(body=then):
        # `x if y < 0 else y + x`
        return _then(_then(first, bound, e.dtype), kept, e.dtype)
    return None


def _compared(e: ir.Select, old: ir.Expr) -> tuple[ir.Expr, ir.Expr, bool, ir.Expr, ir.Expr] | None:
    """A choice as `then if y > limit else other`, or with `<`: `y` and `limit`, whether it is the
    larger ones that are replaced, and both values, of which the first one has no old value."""
    cond, then, other = e.cond, e.then, e.other
    while isinstance(cond, ir.Op) and cond.op == "not":
        cond, then, other = cond.args[0], other, then
    if not isinstance(cond, ir.Op) or cond.op not in _COMPARED:
        return None
    y, limit = cond.args
    larger = _COMPARED[cond.op]
    if not _has(y, old):
        y, limit, larger = limit, y, not larger
    if _has(then, old):
        then, other, larger = other, then, not larger
    if y.dtype != e.dtype or _has(limit, old) or _has(then, old):
        return None
    return y, cast(limit, e.dtype), larger, cast(then, e.dtype), other
