"""Arguments for `corpus/research.py`."""

from typing import Any

import numpy as np

from tests.corpus.case import Case, csr

Rng = np.random.Generator


def _spd(rng: Rng, n: int) -> np.ndarray[Any, Any]:
    a = rng.standard_normal((n, n))
    return a @ a.T / n + 3.0 * np.eye(n)


def _system(rng: Rng, n: int) -> tuple[Any, ...]:
    a = rng.uniform(-1, 1, (n, n)) / n + 3.0 * np.eye(n)
    return a, rng.standard_normal(n), 1e-6, 50


def _edges(rng: Rng, n: int) -> tuple[Any, ...]:
    src = rng.integers(0, n, 3 * n)
    dst = rng.integers(0, n, 3 * n)
    return src, dst, np.maximum(np.bincount(src, minlength=n), 1), n, 3


def _coo(rng: Rng, n: int) -> tuple[Any, ...]:
    k = 3 * n
    return (
        rng.integers(0, n, k), rng.integers(0, n, k), rng.standard_normal(k),
        rng.standard_normal(n), n,
    )  # fmt: skip


def _labels(rng: Rng, n: int) -> tuple[Any, ...]:
    return rng.integers(0, 50, n), rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n)


def _sparse_rows(rng: Rng, n: int) -> tuple[Any, ...]:
    return csr("data indptr")(rng, n)


def _lstm(rng: Rng, n: int) -> tuple[Any, ...]:
    x, h, c = (rng.standard_normal((n, k)) for k in (3, 4, 4))
    return x, h, c, rng.standard_normal((3, 16)), rng.standard_normal((4, 16)), np.zeros(16)


def _cov(rng: Rng, n: int) -> tuple[Any, ...]:
    return rng.standard_normal((n, 4)), _spd(rng, 4), 1.645


def _power(rng: Rng, n: int) -> tuple[Any, ...]:
    return _spd(rng, n), np.ones(n), 20


def _neighbours(rng: Rng, n: int) -> tuple[Any, ...]:
    return rng.standard_normal(n), rng.integers(-1, n, (n, 4))


CASES = {
    "bilateral_filter": Case("float64[:, :], float64, float64, int64", "n,m =1.5 =0.2 =2"),
    "unsharp_mask": Case("float64[:, :], float64", "n+1,m:unit =1.0"),
    "sobel_edges": Case("float64[:, :]", "n,m"),
    "otsu_threshold": Case("float64[:], int64", "n:unit =64"),
    "integral_image": Case("float64[:, :]", "n,m"),
    "max_pool_2x2": Case("float64[:, :]", "n+1,m"),
    "rgb_to_hsv_value": Case("float64[:, :, :]", "n,m,k:unit"),
    "zscore_clip": Case("float64[:, :], omitted, float64", "n+1,m =0 =3.0"),
    "trimmed_mean": Case("float64[:], float64, float64", "n =-0.5 =0.5"),
    "pearson": Case("float64[:], float64[:]", "n+1 n+1"),
    "autocorrelation": Case("float64[:], int64", "n+4 =3"),
    "ecdf_at": Case("float64[:], float64[:]", "n:sorted m:pos"),
    "weighted_quantile_bins": Case("float64[:], float64[:], int64", "n:unit n:pos =16"),
    "kernel_density": Case("float64[:], float64[:], float64", "n m s"),
    "bootstrap_means": Case("float64[:], int64[:, :]", "n m,k:idx<n"),
    "log_returns_stats": Case("float64[:]", "n+2:pos"),
    "max_drawdown": Case("float64[:]", "n:pos"),
    "ewma_columns": Case("float64[:, :], float64", "n,m =0.3"),
    "bond_prices": Case("float64[:], float64, int64", "n:unit s =7"),
    "binomial_call": Case(
        "float64, float64[:], float64, float64, int64", "=100.0 n:pos =0.05 =0.2 =6"
    ),
    "portfolio_var": Case("float64[:, :], float64[:, :], float64", custom=_cov),
    "sma_crossover": Case("float64[:], int64, int64", "n+8:pos =3 =7"),
    "leapfrog_oscillators": Case(
        "float64[:], float64[:], float64[:], float64, int64", "n n n:pos =0.01 =5"
    ),
    "nbody_accelerations": Case("float64[:, :], float64[:], float64", "n,k n:pos =0.1"),
    "ising_energy": Case("int64[:, :], float64", "n,m:nonzero s"),
    "wave_step": Case("float64[:, :], float64[:, :], float64", "n,m n,m s"),
    "lattice_boltzmann_moments": Case("float64[:, :, :], float64[:], float64[:]", "n,m,9:pos 9 9"),
    "particle_deposit": Case("float64[:], float64[:], int64", "n:pos n =8"),
    "spectral_power": Case("float64[:], float64[:]", "n n"),
    "page_rank": Case("int64[:], int64[:], int64[:], int64, int64", custom=_edges),
    "coo_matvec": Case("int64[:], int64[:], float64[:], float64[:], int64", custom=_coo),
    "csr_row_sums": Case("float64[:], int64[:]", custom=_sparse_rows),
    "label_propagation": Case("int64[:], int64[:], int64[:]", custom=_labels),
    "neighbour_means": Case("float64[:], int64[:, :]", custom=_neighbours),
    "layer_norm_gelu": Case("float64[:, :], float64[:], float64[:], float64", "n,m m m =1e-5"),
    "attention": Case("float64[:, :], float64[:, :], float64[:, :]", "n,k m,k m,4"),
    "cross_entropy": Case("float64[:, :], int64[:]", "n,4 n:idx<4"),
    "one_hot": Case("int64[:], int64", "n:idx<5 =5"),
    "conv1d_valid": Case("float64[:, :], float64[:, :, :], float64[:]", "n+3,k b,k,4 4"),
    "lstm_cell": Case(
        "float64[:, :], float64[:, :], float64[:, :], float64[:, :], float64[:, :], float64[:]",
        custom=_lstm,
    ),
    "batch_norm_eval": Case(
        "float64[:, :, :, :], float64[:], float64[:], float64[:], float64[:], float64",
        "n,k,m,b k k:pos k k =1e-5",
    ),
    "kmeans_assign": Case("float64[:, :], float64[:, :]", "n,k 4,k"),
    "kmeans_update": Case("float64[:, :], int64[:], int64", "n,k n:idx<4 =4"),
    "embedding_bag": Case("float64[:, :], int64[:, :], float64[:, :]", "n,k m,b:idx<n m,b"),
    "rotary": Case("float64[:, :], float64[:]", "n,4 b"),
    "gradient_magnitude": Case("float64[:, :], float64", "n+1,m s"),
    "simpson": Case("float64[:], float64", "2*n+1 s"),
    "power_iteration": Case("float64[:, :], float64[:], int64", custom=_power),
    "jacobi_solve": Case("float64[:, :], float64[:], float64, int64", custom=_system),
    "haversine_matrix": Case("float64[:], float64[:]", "n n"),
}
