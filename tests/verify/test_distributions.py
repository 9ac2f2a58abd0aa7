"""Distributions are compared: right functions pass, and wrong ones are found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from porter.verify.checks.distributions import (
    ALARMS,
    RUNS,
    USUAL,
    difference,
    rank_sum,
    smirnov,
    unseeded,
)

Draw = Callable[[np.random.Generator], np.ndarray]


def runs(draw: Draw, count: int, seed: int) -> list[list[tuple[str, np.ndarray]]]:
    rng = np.random.default_rng(seed)
    return [[("result", np.asarray(draw(rng), float))] for _ in range(count)]


def found(right: Draw, other: Draw, seed: int = 0) -> str:
    usual, theirs = runs(right, USUAL, seed), runs(right, RUNS, seed + 1)
    wrong = difference(usual, theirs, runs(other, 100, seed + 2))
    return "" if wrong is None else wrong[1]


def normal(rng: np.random.Generator) -> np.ndarray:
    return 3.0 + 2.0 * rng.normal(size=500)


@pytest.mark.parametrize(
    "other",
    [
        lambda rng: 3.0 + 2.1 * rng.normal(size=500),  # sigma wrong by 5 %
        lambda rng: 3.1 + 2.0 * rng.normal(size=500),  # the mean by 5 % of sigma
        lambda rng: 3.0 + 2.0 * np.sqrt(12) * (rng.random(500) - 0.5),  # uniform
        lambda rng: 3.0 + 2.0 * np.repeat(rng.normal(size=250), 2),  # neighbours share a number
        lambda rng: 3.0 + 2.0 * np.tile(rng.normal(size=2), 250),  # numbers come again
        lambda rng: np.where(np.arange(500) == 499, 0.0, normal(rng)),  # the last is not drawn
        lambda rng: 3.0 + 2.0 * rng.laplace(size=500) / np.sqrt(2),
    ],
)
def test_wrong_distributions_are_found(other: Draw) -> None:
    assert found(normal, other)


@pytest.mark.parametrize(
    "draw",
    [
        normal,
        lambda rng: rng.integers(0, 2, 300),
        lambda rng: np.exp(3.0 * rng.normal(size=400)),  # far from normal
        lambda rng: rng.standard_cauchy(200),
        lambda rng: np.cumsum(rng.normal(size=300)),  # elements that depend on each other
        lambda rng: np.array(float((rng.random(50) < 0.3).sum())),
        lambda rng: np.full(10, 7.25),
        lambda rng: np.where(rng.random(100) < 0.1, np.nan, 1.0),
    ],
)
def test_the_same_distribution_passes(draw: Draw) -> None:
    for seed in range(5):
        assert found(draw, draw, seed) == ""


def test_rounding_is_no_difference() -> None:
    exact = np.linspace(1.0, 1e6, 50)
    assert found(lambda _: exact, lambda _: exact * (1 + 1e-15)) == ""
    assert found(lambda _: exact, lambda _: exact * 1.01)


def test_the_bounds_hold_for_samples_of_one_distribution() -> None:
    """Of chances below p there are no more than p of them, but for luck."""
    rng = np.random.default_rng(3)
    for test in (smirnov, rank_sum):
        chances = np.array([test(rng.normal(size=60), rng.normal(size=160)) for _ in range(2000)])
        for p in (0.1, 0.01, 0.001):
            assert (chances < p).mean() <= p + 4 * np.sqrt(p / 2000)
    assert ALARMS >= 1e6


def test_equal_numbers_share_their_ranks() -> None:
    assert rank_sum(np.zeros(50), np.zeros(60)) == 1.0
    coins = np.random.default_rng(1).integers(0, 2, 400).astype(float)
    assert rank_sum(coins[:200], coins[200:]) > 0.001
    assert rank_sum(np.zeros(200), np.ones(200)) < 1e-20


def test_seeds_of_the_original_do_not_hold() -> None:
    def seeded() -> float:
        np.random.seed(3)
        return float(np.random.default_rng(3).random() + np.random.random())

    assert seeded() == seeded()
    with unseeded(seeded, 1):
        several = {seeded() for _ in range(5)}
    assert len(several) == 5
    with unseeded(seeded, 1):
        assert {seeded() for _ in range(5)} == several
    assert seeded() == seeded()
