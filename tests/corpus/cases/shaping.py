"""Arguments of `corpus/shaping.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.case import Case


def _with_positions(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    """An array, and positions in it and in `x[1:]`, half of them counted from the end."""
    return rng.standard_normal(size), rng.integers(1 - size, size - 1, size + 2)


CASES: dict[str, Case] = {
    "gather_from_views": Case("float64[:], int64[:]", custom=_with_positions, least=3),
    "gather_from_computed": Case("float64[:], int64[:]", custom=_with_positions, least=3),
    "gather_from_counting": Case("int64[:], int64", "m:idx:n =n"),
    "store_through_asarray": Case("int64[:]", "n"),
    "periodic_laplacian": Case("float64[:, :]", "n,m"),
    "edge_blur": Case("float64[:, :]", "n,m"),
    "reflect_smooth": Case("float64[:], int64", "n =2"),
    "zero_padded_convolution": Case("float64[:, :], float64[:, :]", "n,m k,k"),
    "row_sums_padded": Case("float64[:, :]", "n,m"),
    "totals_and_tail": Case("float64[:, :], float64[:]", "n,m m"),
    "upsample": Case("float64[:, :]", "n,m"),
    "upsample_kron": Case("float64[:, :]", "n,m"),
    "checkerboard": Case("int64", "=n"),
    "patches": Case("float64[:, :]", "n,m"),
    "batch_norm": Case("float64[:, :, :]", "n,b,k"),
    "flat_fill": Case("float64[:, :], float64", "n,m s"),
    "heads": Case("float64[:, :]", "n,4"),
    "bilinear_table": Case("float64[:], float64[:], float64[:]", "n m:sorted m", least=2),
    "rank_in_bins": Case("float64[:]", "n"),
    "gradient_magnitude": Case("float64[:, :], float64", "n,m s", least=2),
    "line_integral": Case("float64[:], float64[:]", "n n"),
    "angular_momentum": Case("float64[:, :], float64[:, :]", "n,3 n,3"),
    "vandermonde_fit": Case("float64[:], float64, float64, float64", "n s s s"),
    "horner": Case("float64[:]", "n"),
    "smoothed": Case("float64[:]", "n"),
    "correlation": Case("float64[:], float64[:]", "n k"),
    "mask_known": Case("int64[:], int64[:]", "n m"),
    "piecewise_material": Case("float64[:]", "n"),
    "grade": Case("float64[:]", "n:special"),
    "pick": Case("float64[:, :], int64[:]", "n,m n:idx:m"),
    "sensor_grid": Case("float64[:], float64[:]", "n m"),
    "distances_on_grid": Case("int64, float64", "=n s"),
    "split_halves": Case("float64[:]", "n"),
    "banded": Case("float64[:], float64[:]", "n n-1", least=2),
    "with_diagonal": Case("float64[:, :], float64", "n,m s"),
    "three_views": Case("float64[:, :], float64[:, :], float64[:, :]", "n,m n,m n,m"),
    "contracted": Case("float64[:, :, :], float64[:, :]", "n,m,k m,k"),
    "cumulative_gaps": Case("float64[:]", "n"),
    "sampled_wave": Case("float64, float64", "=n*0.1 =10.0"),
    "store_through_ravel": Case("float64[:, :], float64", "n,m s"),
    "positions_by_arange": Case("float64[:, :]", "n,n"),
    "pairwise_upper": Case("float64[:, :]", "n,k"),
    "hottest": Case("float64[:, :]", "n,m"),
    "polynomial_features": Case("float64[:]", "n"),
    "palette": Case("int64[:], float64[:], float64[:], float64[:]", "n:idx:3 n n n"),
    "only_axis": Case("float64[:]", "n", least=2),
    "outer_without_single_axes": Case("float64[:], float64[:]", "n m"),
    "sums_without_single_axes": Case("float64[:], float64[:]", "n m"),
    "both_halves": Case("float64[:]", "n"),
    "helper_names": Case("float64[:], int64[:]", "n m:idx:n"),
    "insert_and_delete": Case("float64[:], float64", "n s", least=2),
    "every_kth": Case("float64[:], int64", "n =3"),
    "clear_every_kth": Case("float64[:], int64", "n =2"),
    "pooled": Case("float32[:, :], int64", "n,m =2"),
    "phases": Case("float64[:], int64", "n =4"),
    "sieve_of": Case("int64", "=n+5"),
    "local_maxima": Case("float64[:], int64", "n =2"),
    "low_pass": Case("complex128[:, :], int64", "n,m =2"),
}
