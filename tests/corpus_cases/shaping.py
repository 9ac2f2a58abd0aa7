"""Arguments of `corpus/shaping.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from corpus_case import Case


def _with_positions(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    """An array, and positions in it and in `x[1:]`, half of them counted from the end."""
    return rng.standard_normal(size), rng.integers(1 - size, size - 1, size + 2)


CASES: dict[str, Case] = {
    "gather_from_views": Case("float64[:], int64[:]", custom=_with_positions, least=3),
    "gather_from_computed": Case("float64[:], int64[:]", custom=_with_positions, least=3),
    "gather_from_counting": Case("int64[:], int64", "m:idx:n =n"),
    "store_through_asarray": Case("int64[:]", "n"),
}
