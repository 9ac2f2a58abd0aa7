"""Arguments for `corpus/triangular.py`: diagonals well away from zero."""

from typing import Any

import numpy as np

from tests.corpus.case import Case


def _system(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.uniform(-1, 1, (n, n)) / n + 2 * np.eye(n), rng.standard_normal(n)


def _matrix(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_system(rng, n)[0],)


def _definite(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = rng.uniform(-1, 1, (n, n)) / n
    return (a @ a.T + 2 * np.eye(n),)


def _toeplitz(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.uniform(-0.5, 0.5, n) / n,)


CASES = {
    "levinson": Case("float64[:]", custom=_toeplitz),
    "cholesky_in_place": Case("float64[:, :]", custom=_definite),
    "forward_substitution": Case("float64[:, :], float64[:]", custom=_system),
    "back_substitution": Case("float64[:, :], float64[:]", custom=_system),
    "lu_in_place": Case("float64[:, :]", custom=_matrix),
    "symmetric_rank_update": Case("float64[:, :], float64[:, :], float64, float64", "n,n n,k s s"),
    "prefix_energies": Case("float64[:]", "n"),
}
