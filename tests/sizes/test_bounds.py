"""Bounds of sizes over the ranges of indices, beside all values that they have."""

from __future__ import annotations

import itertools
import random

import pytest

from porter.sizes.bounds import least, most
from porter.sizes.polynomial import Apply, Index, Integer, Poly, maximum, minimum, sym

N, K, J = Poly.atom(Integer("n", True)), sym("i", True), sym("j", True)
RANGES = {"i": (Poly.of(1), N), "j": (K - 2, N + K)}


def value(p: Poly, known: dict[str, int]) -> int:
    """The number that a size is."""

    def atom(a: object) -> int:
        if isinstance(a, Apply):
            x, y = (value(q, known) for q in a.args)
            return {"min": min, "max": max, "//": lambda u, v: u // v}[a.op](x, y)
        assert isinstance(a, (Index, Integer))
        return known[a.name]

    total = 0
    for monomial, c in p.terms:
        for a in monomial:
            c *= atom(a)
        total += c
    return total


def drawn(rng: random.Random, depth: int = 2) -> Poly:
    """A size of these indices."""
    if not depth:
        return rng.choice([N, K, J, Poly.of(rng.randrange(-3, 4))])
    a, b = drawn(rng, depth - 1), drawn(rng, depth - 1)
    made = rng.randrange(5)
    if made == 0:
        return minimum(a, b)
    if made == 1:
        return maximum(a, b)
    if made == 2:
        return a // rng.randrange(1, 4)
    return a + b if made == 3 else a - b * rng.randrange(1, 3)


def test_no_value_is_beyond_them() -> None:
    rng = random.Random(7)
    found = 0
    for _ in range(400):
        p = drawn(rng)
        upper, lower = most(p, RANGES), least(p, RANGES)
        for bound, up in ((upper, True), (lower, False)):
            if bound is None:
                continue
            assert not bound.names() & RANGES.keys()
            found += bool(p.names() & RANGES.keys())
            for n in (2, 3, 5):
                end = value(bound, {"n": n})
                for i, j in itertools.product(range(1, n), range(-1, 2 * n)):
                    if i - 2 <= j < n + i:
                        here = value(p, {"n": n, "i": i, "j": j})
                        assert here <= end if up else here >= end, (p, bound, n, i, j)
    assert found > 300


@pytest.mark.parametrize(
    ("size", "bound"),
    [
        (N - K - 1, N - 2),
        (minimum(N + 1, K + J) - maximum(0, K - N), N + 1),
        (N * K, None),
        (Poly.atom(Apply("%", (K, N))), None),
        (N * N, N * N),
    ],
    ids=str,
)
def test_the_largest(size: Poly, bound: Poly | None) -> None:
    assert most(size, RANGES) == bound
