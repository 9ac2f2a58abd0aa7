"""Measured times: what counts, and how it is said."""

from __future__ import annotations

import pytest

from porter.bench.child.measuring import FEWEST_RUNS, MOST_RUNS, said, timed


def test_the_first_call_does_not_count_and_the_others_give_a_median() -> None:
    times = iter([100.0, 3.0, 1.0, 2.0])
    made = []

    def prepare() -> list[int]:
        made.append(len(made))
        return [made[-1]]

    seen = []

    def call(values: object) -> float:
        seen.append(values)
        return next(times)

    found = timed(prepare, call, seconds=6.0)
    assert (found["ms"], found["least_ms"], found["most_ms"], found["runs"]) == (2e3, 1e3, 3e3, 3)
    assert seen == [[0], [1], [2], [3]]


@pytest.mark.parametrize(("each", "runs"), [(1e-9, MOST_RUNS), (10.0, FEWEST_RUNS), (0.25, 4)])
def test_calls_are_repeated_for_a_second(each: float, runs: int) -> None:
    assert timed(list, lambda values: each)["runs"] == runs


def test_an_error_of_numba_is_one_line_without_colours() -> None:
    text = "Failed in nopython mode pipeline (step: nopython frontend)\n\x1b[1mUnknown \x1b[0mtype"
    assert said(TypeError(text)) == "TypeError: Unknown type"
