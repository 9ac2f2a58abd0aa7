"""Whether two results differ only by which of equal zeros a maximum or a minimum took.

One choice must explain all elements: a kernel whose threads take different ones is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from porter.verify.oracle import compare
from porter.verify.oracle.zeros import Zeros

Array = np.ndarray[Any, Any]
#: how many zeros are turned one by one
MOST_TURNED = 64
#: how near values count as equal in the search; the budget decides about what it finds
NEAR = 1e-3

Run = Callable[[Zeros], tuple[compare.Outcome, int]]


def search(
    run: Run, actual: compare.Outcome, names: Sequence[str]
) -> tuple[Zeros, compare.Outcome] | None:
    """The choice with which the original comes nearest to the other result, if there is any.

    `run` gives what the original does with a choice, and how many zeros it met.
    """
    zeros = Zeros()
    nearest, met = run(zeros)
    if not met or nearest.error is not None:
        return None
    fewest = _unlike(nearest, actual, names)
    turns: list[Callable[[Zeros], Zeros]] = [lambda _: Zeros(1), lambda _: Zeros(-1)]
    turns += [methodcaller("other", k) for k in range(min(met, MOST_TURNED))]
    for turn in turns:
        if not fewest:
            break
        outcome, _ = run(turn(zeros))
        count = _unlike(outcome, actual, names) if outcome.error is None else fewest
        if count < fewest:
            zeros, nearest, fewest = turn(zeros), outcome, count
    return (zeros, nearest) if fewest < math.inf else None


def _unlike(one: compare.Outcome, other: compare.Outcome, names: Sequence[str]) -> float:
    """How many elements are plainly different; inf for results of another form."""
    found = [[np.asarray(v) for _, v in compare.parts(o, names)] for o in (one, other)]
    if [a.shape for a in found[0]] != [a.shape for a in found[1]]:
        return math.inf
    return sum(_count(a, b) for a, b in zip(*found, strict=True))


def _count(one: Array, other: Array) -> int:
    if one.dtype.kind in "fc" and other.dtype.kind in "fc":
        near = np.isclose(one, other, rtol=NEAR, atol=0, equal_nan=True)
        return int(np.count_nonzero(~near))
    return int(np.count_nonzero(one != other))
