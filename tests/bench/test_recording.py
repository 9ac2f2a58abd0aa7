"""Launches of a kernel that stand for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from porter.bench.child.recording import Launch, Series


def series(threads: list[int]) -> Series:
    """Launches of one block with so many threads each."""
    found = Series()
    for place, number in enumerate(threads):
        args = (np.int64(place),)
        found.add(Launch(place, "k", ("i",), [], (1, 1, 1), (number, 1, 1), 0, args))
    return found


@pytest.mark.parametrize("count", [1, 2, 5, 16, 17, 18, 100, 2000])
def test_counts_that_grow_with_the_place_are_those_of_all(count: int) -> None:
    chosen = list(series([256] * count).chosen())
    assert len(chosen) <= 18
    assert sum(weight for _, weight in chosen) == pytest.approx(count)
    linear = sum(weight * (3 + 2 * launch.place) for launch, weight in chosen)
    assert linear == pytest.approx(sum(3 + 2 * k for k in range(count)))


def test_threads_count_too() -> None:
    threads = [32 * (1 + k // 20) for k in range(400)]
    chosen = list(series(threads).chosen())
    assert sum(w * launch.threads for launch, w in chosen) == pytest.approx(sum(threads))


def test_launches_that_are_alike_are_one() -> None:
    found = Series()
    for place in range(50):
        found.add(Launch(place, "k", (), [], (1, 1, 1), (64, 1, 1), 0, ()))
    assert [(launch.place, weight) for launch, weight in found.chosen()] == [(0, 50.0)]


def test_launches_that_come_again_in_each_turn_are_counted_by_kind() -> None:
    """Every 16th of them is the first of its turn: such a choice would stand for none but those."""
    found = Series()
    for place in range(512):
        args = (np.int64(place % 16),)
        found.add(Launch(place, "k", ("i",), [], (1, 1, 1), (64, 1, 1), 0, args))
    chosen = [(int(launch.args[0]), weight) for launch, weight in found.chosen()]
    assert chosen == [(k, 32.0) for k in range(16)]
