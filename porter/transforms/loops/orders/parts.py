"""Statements over the points of an affine domain, as threads over a rectangle around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from porter import ir
from porter.analyses.dependence import never
from porter.dtypes.dtype import BOOL, INT64
from porter.ir.axes import Range
from porter.ir.context import Context
from porter.ir.rebuild import rename_axes
from porter.sizes.polynomial import Poly, maximum, minimum, sym
from porter.transforms.loops.nests import looped


@dataclass(frozen=True)
class Part:
    """Statements for all values of the named indices for which no test is negative.

    Indices are not negative.
    """

    names: tuple[str, ...]
    tests: tuple[Poly, ...]
    body: tuple[ir.Write, ...]


def not_negative(e: Poly) -> ir.Expr:
    """The test of a number, written without a sign."""
    low = Poly(tuple((m, -c) for m, c in e.terms if c < 0))
    return ir.Op("ge", (ir.Value(e + low, INT64), ir.Value(low, INT64)), BOOL)


def joined(parts: Sequence[Part], step: Range) -> list[Part]:
    """The parts without empty ones, and those that do the same as one where one domain has both.

    They are run for all values of `step`.
    """
    found: list[Part] = []
    for part in parts:
        if never(part.tests, (step,)):
            continue
        for n, other in enumerate(found):
            whole = _union(other, part, step)
            if whole is not None:
                found[n] = whole
                break
        else:
            found.append(part)
    return found


def _union(a: Part, b: Part, step: Range) -> Part | None:
    """The points for which all tests hold that hold for those of both, if these are no more."""
    if len(a.names) < len(b.names):
        a, b = b, a
    for other in _alike(a, b):
        both = tuple(
            t for t in dict.fromkeys((*a.tests, *other))
            if never((*a.tests, -t - 1), (step,)) and never((*other, -t - 1), (step,))
        )  # fmt: skip
        pairs = product(a.tests, other)
        if all(never((*both, -one - 1, -two - 1), (step,)) for one, two in pairs):
            return replace(a, tests=both)
    return None


def _alike(a: Part, b: Part) -> Iterator[tuple[Poly, ...]]:
    """The tests of the second part over the first one's indices, if its statements are the same.

    An index that it lacks is another one: `x[i, i] = f(i, i)` is `x[i, j] = f(i, j)` where j is i.
    """
    own = {y: sym(x, True) for x, y in zip(a.names, b.names, strict=False)}
    tests = [t.replace(own) for t in b.tests]
    for names in product(a.names[: len(b.names)], repeat=len(a.names) - len(b.names)):
        last = dict(zip(a.names[len(b.names) :], (sym(n, True) for n in names), strict=True))
        mine = [rename_axes(w, last) for w in a.body]
        moved = [rename_axes(w, own) for w in b.body]
        if [(w.buffer, w.index, w.body) for w in moved] == [
            (w.buffer, w.index, w.body) for w in mine
        ]:
            gaps = [sym(name, True) - value for name, value in last.items()]
            yield (*tests, *gaps, *(-g for g in gaps))


def staged(part: Part, step: Range, context: Context) -> ir.Stage | None:
    """The threads of a part; None where the rectangle is not known."""
    part = _solved(part)
    extents = [_extent(n, part) for n in part.names]
    axes = tuple(a for a in extents if a is not None)
    if len(axes) < len(extents):
        return None
    body: tuple[ir.Stmt, ...] = part.body
    for test in _open(part, axes, step):
        body = (ir.If(not_negative(test), body, (), part.body[0].origin),)
    axes, names = context.fresh_axes(axes)
    moved = tuple(rename_axes(s, names) for s in map(looped, body))
    return ir.Stage(axes, moved, part.body[0].origin)


def _solved(part: Part) -> Part:
    """Without the indices that others and the step decide."""
    for e in part.tests:
        if -e not in part.tests:
            continue
        for name in part.names[::-1]:
            if e.coefficient(name) in (1, -1):
                value = {name: sym(name, True) - (e.coefficient(name) or 1) * e}
                tests = [t.replace(value) for t in part.tests if t not in (e, -e)]
                body = tuple(rename_axes(w, value) for w in part.body)
                names = tuple(n for n in part.names if n != name)
                return _solved(Part(names, tuple(dict.fromkeys(tests)), body))
    return part


def _extent(name: str, part: Part) -> ir.Axis | None:
    """The range of an index over all points, by elimination of the others."""
    left = list(part.tests)
    for other in part.names:
        if other != name:
            signs = [e.coefficient(other) for e in left]
            if any(c not in (-1, 0, 1) for c in signs):
                return None
            up, down = ([e for e, c in zip(left, signs, strict=True) if c == n] for n in (1, -1))
            left = [e for e, c in zip(left, signs, strict=True) if c == 0]
            left += [a + b for a in up for b in down]
    signs = [e.coefficient(name) for e in left]
    i = sym(name, True)
    lows = [i - e for e, c in zip(left, signs, strict=True) if c == 1]
    highs = [e + i for e, c in zip(left, signs, strict=True) if c == -1]
    if any(c not in (-1, 0, 1) for c in signs) or not (lows and highs):
        return None
    return ir.Axis(name, reduce(minimum, highs) + 1, reduce(maximum, lows))


def _open(part: Part, axes: Sequence[ir.Axis], step: Range) -> Iterator[Poly]:
    """The tests that a thread makes: those that do not hold for all of the rectangle anyway."""
    ranges = (step, *map(Range.of, axes))
    kept = list(part.tests)
    for test in part.tests:
        others = [t for t in kept if t != test]
        if never((*others, -test - 1), ranges):
            kept = others
    yield from kept
