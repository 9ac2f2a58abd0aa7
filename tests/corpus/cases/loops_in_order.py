"""Programs of `corpus/loops_in_order.py`: refused unless a single thread is asked for."""

from typing import Any

import numpy as np

from tests.corpus.case import Case

F1, F, N, I1 = "float64[:]", "float64", "int64", "int64[:]"


def _chain(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.permutation(n), 0, n + 2


def _forest(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return np.arange(n), rng.integers(0, n, n), rng.integers(0, n, n)


def _sorted(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return np.sort(rng.standard_normal(n)), np.sort(rng.standard_normal(n + 2))


CASES = {
    "crc16": Case("uint8[:], int64", "n =33800", serial=True),
    "bubblesort": Case(F1, "n", serial=True),
    "insertion_sort": Case(F1, "n", serial=True),
    "saturating": Case(f"{F1}, {F}", "n s", serial=True),
    "random_access": Case(f"{I1}, {N}, {N}", custom=_chain, serial=True),
    "longest_run": Case(F1, "n", serial=True),
    "merge": Case(f"{F1}, {F1}", custom=_sorted, serial=True),
    "union_find": Case(f"{I1}, {I1}, {I1}", custom=_forest, serial=True),
}
