"""What the functions of `programs/conditions.py` are called with."""

from typing import Any

import numpy as np

from tests.corpus.case import Case

F1, F2, I1 = "float64[:]", "float64[:, :]", "int64[:]"


def _searched(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    x = rng.random(n + 1)
    x[-1] = 1.0
    return (x,)


def _perhaps_searched(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """At some sizes no element is high enough, and NumPy raises IndexError."""
    (x,) = _searched(rng, n)
    return (x if n % 5 else x * 0.4,)


def _climbing(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    parent = np.arange(n + 1) + rng.integers(1, 3, n + 1)
    return (np.minimum(parent, n) if n % 5 else parent,)


def _starts(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return *_searched(rng, n), rng.integers(0, n + 1, n // 2)


def _links(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    parent = np.minimum(np.arange(n + 1) + rng.integers(0, 3, n + 1), n)
    return parent, rng.integers(0, n + 1, n // 2)


def _volume(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    m = min(n, 9) + 1
    return rng.uniform(-1, 1, (m, m)) / m + np.eye(m), rng.random(3)


CASES = {
    "halved_while_wide": Case(F1, "n"),
    "until_steady": Case(f"{F1}, float64", "n =0.01"),
    "highest_sorted": Case(F1, "n"),
    "halved_while_volume": Case(f"{F2}, {F1}", custom=_volume),
    "first_high": Case(F1, custom=_searched),
    "next_high": Case(f"{F1}, {I1}", custom=_starts),
    "roots": Case(f"{I1}, {I1}", custom=_links),
    "high_left": Case(F1, custom=_perhaps_searched),
    "high_kept": Case(F1, custom=_perhaps_searched),
    "high_marked": Case(F1, custom=_perhaps_searched),
    "last_link": Case(I1, custom=_climbing),
}
