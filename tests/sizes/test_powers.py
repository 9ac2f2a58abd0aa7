"""Powers of integers: one power of each base in a product, against plain integers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.cost.amounts import value
from porter.sizes.polynomial import Integer, Poly, power, sym
from porter.sizes.shapes import product

R, K, N = (Poly.atom(Integer(name)) for name in ("r", "k", "n"))
I = sym("i", True)  # noqa: E741

SAME = {
    "a product of all": (product([power(R, I), R, power(R, K - I - 1)]), power(R, K)),
    "literal bases": (power(2, I) * 2 * power(2, K - I - 1), power(2, K)),
    "a literal factor": (power(2, K) * 6, 3 * power(2, K + 1)),
    "a sum": (power(2, K) + power(2, K), power(2, K + 1)),
    "two bases": (power(R, I) * power(N, I) * R * N, power(N, I + 1) * power(R, I + 1)),
    "a power of a power": (power(power(R, I), K), power(R, I * K)),
    "a literal exponent": (power(R, 3), R * R * R),
    "of one": (power(1, K), Poly.of(1)),
    "of minus one": (power(-1, I), 1 - 2 * (I % 2)),
    "put in": (power(R, K).replace({"k": Poly.of(2)}), R * R),
    "numbers put in": (power(2, K).replace({"k": Poly.of(10)}), Poly.of(1024)),
    "exponents that cancel": (power(R, N - K) * power(R, K - N), Poly.of(1)),
}


@pytest.mark.parametrize("one, other", SAME.values(), ids=SAME)
def test_equal_sizes_are_equal_objects(one: Poly, other: Poly) -> None:
    assert one == other


def test_a_power_of_a_positive_number_is_one_at_least() -> None:
    assert power(2, K).is_positive() and (3 * power(2, K) - 3).is_nonneg()
    assert not (power(2, K) - 2).is_nonneg()
    assert power(sym("n", True), K).is_nonneg() and not power(sym("n", True), K).is_positive()
    assert not power(R, K).is_nonneg()


leaves = st.sampled_from([(R, "r"), (N, "n"), (Poly.of(2), "2"), (Poly.of(3), "3")])
exponents = st.sampled_from([(K, "k"), (I, "i"), (K + 1, "(k + 1)"), (I + K, "(i + k)")])
powers = st.builds(lambda base, e: (power(base[0], e[0]), f"{base[1]}**{e[1]}"), leaves, exponents)


def _joined(sign: str, a: tuple[Poly, str], b: tuple[Poly, str]) -> tuple[Poly, str]:
    made = {"+": a[0] + b[0], "-": a[0] - b[0], "*": a[0] * b[0]}[sign]
    return made, f"({a[1]} {sign} {b[1]})"


sums = st.recursive(
    powers | leaves,
    lambda p: st.builds(_joined, st.sampled_from("+-*"), p, p),
    max_leaves=6,
)


@given(sums, st.fixed_dictionaries({n: st.integers(0, 3) for n in "rnki"}))
def test_the_value_is_that_of_the_unsimplified_expression(
    pair: tuple[Poly, str], point: dict[str, int]
) -> None:
    poly, text = pair
    wanted: Any = eval(text, dict(point))
    assert value(poly, point) == wanted
