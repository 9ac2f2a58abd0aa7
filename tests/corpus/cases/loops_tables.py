"""Arguments for `corpus/loops_tables.py`."""

from typing import Any

import numpy as np

from tests.corpus.case import Case, sizes

I1, F1, F2, F, N = "int64[:]", "float64[:]", "float64[:, :]", "float64", "int64"
TEXTS = "n:idx=3 m:idx=3"


def _hmm(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    m = sizes(n)["m"]
    return rng.uniform(0.1, 1, m), rng.uniform(0.1, 1, (m, m)), rng.uniform(0.1, 1, (n, m))


def _items(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.integers(1, 5, n), rng.uniform(0, 3, n), 2 * n


CASES = {
    "edit_distance": Case(f"{I1}, {I1}", TEXTS),
    "longest_common_subsequence": Case(f"{I1}, {I1}", TEXTS),
    "dtw": Case(f"{F1}, {F1}", "n m"),
    "needleman_wunsch": Case(f"{I1}, {I1}, {F}", TEXTS + " s"),
    "smith_waterman": Case(f"{I1}, {I1}, {F}", TEXTS + " s"),
    "matrix_chain": Case(F1, "n+1:pos"),
    "interval_game": Case(F1, "n"),
    "base_pairs": Case(I1, "n:idx=4"),
    "knapsack": Case(f"{I1}, {F1}, {N}", custom=_items),
    "viterbi": Case(f"{F1}, {F2}, {F2}", custom=_hmm),
    "hmm_forward": Case(f"{F1}, {F2}, {F2}", custom=_hmm),
    "pascal": Case(N, "=n"),
    "grid_paths": Case(F2, "n,m", serial=True),
    "seam_costs": Case(F2, "n,m"),
    "integral_image": Case(F2, "n,m"),
    "longest_increasing": Case(F1, "n", serial=True),
    "distance_of_segments": Case(f"{F1}, {N}", "n+1 =40"),
    "coin_change": Case(f"{I1}, {N}", "k:idx=4 =n", serial=True),
}
