"""Indices and the ranges that they run over."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from porter.dtypes.dtype import BOOL, INT64
from porter.ir.nodes import Axis, Expr, For, Op, Value
from porter.sizes.polynomial import Poly, sym


@dataclass(frozen=True)
class Range:
    """The values that an index takes: `range(lo, hi, step)`."""

    index: str
    lo: Poly
    hi: Poly
    step: int = 1

    @staticmethod
    def of(loop: For | Axis) -> Range:
        """The range of a loop or of a domain's axis."""
        if isinstance(loop, Axis):
            return Range(loop.name, loop.lo, loop.hi)
        return Range(loop.index, loop.lo, loop.hi, loop.step)


def same_extents(a: Sequence[Axis], b: Sequence[Axis]) -> bool:
    """Whether two domains have the same sizes."""
    return len(a) == len(b) and all(x.extent == y.extent for x, y in zip(a, b, strict=True))


def within(narrow: Sequence[Axis], wide: Sequence[Axis]) -> Expr | None:
    """The test that indices of wide ranges are in narrow ones; None where the ranges are equal."""
    tests: list[Expr] = []
    for a, b in zip(narrow, wide, strict=True):
        index = Value(sym(b.name, True), INT64)
        tests += [Op("ge", (index, Value(a.lo, INT64)), BOOL)] if a.lo != b.lo else []
        tests += [Op("lt", (index, Value(a.hi, INT64)), BOOL)] if a.hi != b.hi else []
    if not tests:
        return None
    return functools.reduce(lambda one, other: Op("and", (one, other), BOOL), tests)


def symbols(axes: Sequence[Axis]) -> tuple[Poly, ...]:
    """The axes' indices as polynomials."""
    return tuple(sym(a.name, True) for a in axes)


def loop_axis(loop: For) -> tuple[Axis, dict[str, Poly]]:
    """A parallel loop as a domain axis counting from its start, and what its index becomes."""
    if loop.step == 1:
        return Axis(loop.index, loop.hi, loop.lo), {}
    k = sym(loop.index, True)
    span = loop.hi - loop.lo if loop.step > 0 else loop.lo - loop.hi
    size = abs(loop.step)
    count = span if size == 1 else (span + (size - 1)) // size
    return Axis(loop.index, count), {loop.index: loop.lo + k * loop.step}
