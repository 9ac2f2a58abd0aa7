"""Random reductions in CI: a few of those that `tests.schedule.random_folds` makes."""

from __future__ import annotations

import ast

import pytest

from tests.schedule.random_folds import run, source


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_random_folds_are_those_of_numpy(seed: int) -> None:
    assert run(seed, 3) == 0


def test_the_same_numbers_make_the_same_functions() -> None:
    text = source(5, 20)
    assert text == source(5, 20) != source(6, 20)
    assert len([s for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]) == 20
