"""What the functions of `programs/eliminations.py` are called with: pivots away from zero."""

from typing import Any

import numpy as np

from tests.corpus.case import Case

F2 = "float64[:, :]"


def _dominant(rng: np.random.Generator, n: int, m: int) -> Any:
    a = rng.uniform(-1, 1, (n, m)) / (n + 1)
    a[range(n), range(n)] += 2
    return a


def _matrix(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_dominant(rng, n, n),)


def _system(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n, n), rng.standard_normal(n)


def _with_zeros(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    a, b = _system(rng, n)
    lower = np.tril(rng.random((n, n)) < 0.3, -1)
    return np.where(lower, 0.0, a), b


def _wide(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_dominant(rng, n, n + 3),)


def _positive(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = rng.uniform(-1, 1, (n, n)) / (n + 1)
    return (a @ a.T + np.eye(n),)


def _part(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n + 2, n + 2), n // 2


def _checked(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n, n), 1e-12


def _any_system(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, n), 1e-3


CASES = {
    "gauss": Case(F2, custom=_matrix),
    "outer_products": Case(F2, custom=_matrix),
    "with_right_side": Case(f"{F2}, float64[:]", custom=_system),
    "zeros_are_left_out": Case(f"{F2}, float64[:]", custom=_with_zeros),
    "augmented": Case(F2, custom=_wide),
    "upper_cholesky": Case(F2, custom=_positive),
    "schur_complement": Case(f"{F2}, int64", custom=_part),
    "with_determinant": Case(F2, custom=_matrix),
    "checked_pivots": Case(f"{F2}, float64", custom=_checked),
    "partial_pivoting": Case(f"{F2}, float64[:], float64", custom=_any_system),
    "rows_scaled_afterwards": Case(F2, custom=_matrix),
}
