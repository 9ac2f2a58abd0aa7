"""Arguments for `corpus/loops_linear.py`: diagonals well away from zero."""

from typing import Any

import numpy as np

from tests.corpus.case import Case

F1, F2, F, N = "float64[:]", "float64[:, :]", "float64", "int64"


def _dominant(rng: np.random.Generator, n: int) -> Any:
    return rng.uniform(-1, 1, (n, n)) / n + 2 * np.eye(n)


def _positive(rng: np.random.Generator, n: int) -> Any:
    a = rng.uniform(-1, 1, (n, n)) / n
    return a @ a.T + np.eye(n)


def _matrix(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_dominant(rng, n),)


def _spd(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (_positive(rng, n),)


def _system(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _dominant(rng, n), rng.standard_normal(n)


def _iterated(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _positive(rng, n), rng.uniform(0.5, 1, n), 1e-3, 12


def _conjugate(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _positive(rng, n), rng.standard_normal(n), 3


def _bands(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    m = n // 2 + 2
    a, c, d = (rng.uniform(-1, 1, (n, m)) for _ in range(3))
    return a, rng.uniform(3, 4, (n, m)), c, d


def _distances(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.uniform(1, 9, (n, n)),)


def _symmetric(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    m = n // 2 + 2
    c, a, b = (rng.uniform(-1, 1, s) for s in ((n, m), (n, n), (n, m)))
    return c, a, b, 0.7, 1.1


CASES = {
    "lu_in_place": Case(F2, custom=_matrix),
    "lu_slices": Case(F2, custom=_matrix),
    "cholesky_loops": Case(F2, custom=_spd),
    "cholesky_rows": Case(F2, custom=_spd),
    "gram_schmidt": Case(F2, "n+4,k"),
    "forward_substitution": Case(f"{F2}, {F1}", custom=_system),
    "back_substitution": Case(f"{F2}, {F1}", custom=_system),
    "gauss_jordan": Case(f"{F2}, {F1}", custom=_system),
    "thomas_batch": Case(f"{F2}, {F2}, {F2}, {F2}", custom=_bands),
    "thomas_columns": Case(f"{F2}, {F2}, {F2}, {F2}", custom=_bands),
    "power_method": Case(f"{F2}, {F1}, {F}, {N}", custom=_iterated),
    "jacobi_solve": Case(f"{F2}, {F1}, {F}, {N}", custom=_iterated),
    "gauss_seidel_2d": Case(F2, "n,m"),
    "gauss_seidel_nine": Case(f"{F2}, {N}", "n,m =2"),
    "gauss_seidel_3d": Case("float64[:, :, :]", "n,m,k+2"),
    "sor": Case(f"{F2}, {F2}, {F}, {N}", "n,m n,m s =2"),
    "seidel_backwards": Case(F2, "n,m"),
    "red_black": Case(f"{F2}, {N}", "n,m =2"),
    "conjugate_gradient": Case(f"{F2}, {F1}, {N}", custom=_conjugate),
    "matmul_loops": Case(f"{F2}, {F2}", "n,m m,k"),
    "matmul_ikj": Case(f"{F2}, {F2}", "n,m m,k"),
    "trmm_loops": Case(f"{F2}, {F2}", "n,n n,m"),
    "syrk_loops": Case(f"{F2}, {F2}, {F}, {F}", "n,n n,k s s"),
    "symm_loops": Case(f"{F2}, {F2}, {F2}, {F}, {F}", custom=_symmetric),
    "floyd_warshall_loops": Case(F2, custom=_distances),
    "transitive_closure": Case("bool[:, :]", "n,n"),
    "tril_inverse": Case(F2, custom=_matrix),
    "trace_loop": Case(F2, "n,n"),
    "frobenius": Case(F2, "n,m"),
}
