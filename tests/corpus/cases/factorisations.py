"""What the functions of `programs/factorisations.py` are called with: nothing near zero."""

from typing import Any

import numpy as np

from tests.corpus.case import Case

F2 = "float64[:, :]"


def _dominant(rng: np.random.Generator, n: int) -> Any:
    return rng.uniform(-1, 1, (n, n)) / (n + 1) + 2 * np.eye(n)


def _matrix(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_dominant(rng, n),)


def _positive(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = rng.uniform(-1, 1, (n, n)) / (n + 1)
    return (a @ a.T + np.eye(n),)


def _right_sides(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n), rng.standard_normal((n, n // 2 + 2))


def _two(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n), _dominant(rng, n)


def _away(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.uniform(1, 2, (n, n)) / (n + 1),)


CASES = {
    "lu_three_loops": Case(F2, custom=_matrix),
    "doolittle": Case(F2, custom=_matrix),
    "banachiewicz": Case(F2, custom=_positive),
    "right_sides": Case(f"{F2}, {F2}", custom=_right_sides),
    "stored_again": Case(F2, custom=_away),
    "with_itself": Case(F2, custom=_away),
    "another_matrix": Case(f"{F2}, {F2}", custom=_two),
}
