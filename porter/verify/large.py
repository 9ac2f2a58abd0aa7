"""How large a large case may be: as large as the original's memory and time allow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

from porter.verify import calls
from porter.verify.cases import CaseSpec, smaller
from porter.verify.inputs import Inputs

#: bytes that a case ten times as large may need, if they grow with the square of its size
MOST_BYTES = 256e6
#: seconds that the original may take
SLOW = 0.5


def affordable(spec: CaseSpec, cost: Callable[[CaseSpec], float | None]) -> CaseSpec | None:
    """The largest version of a large case that can be afforded, tried from small to large.

    An array of shape (n, n) made of one with n elements would otherwise fill the memory.
    `cost` gives the bytes that a case takes, None when the original does not return in time.
    """
    rungs = [spec]
    while (less := smaller(rungs[-1])) is not None:
        rungs.append(less)
    chosen = None
    for rung in reversed(rungs):
        size = cost(rung)
        if size is None:
            break
        chosen = rung
        if 100 * size > MOST_BYTES:
            break
    return chosen


def bytes_of(function: Callable[..., object], inputs: Inputs) -> float | None:
    """What the arguments and a run of the original take; None if it is slow or raises."""
    tracemalloc.start()
    try:
        outcome = calls.original(function, inputs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    given = sum(getattr(a.value, "nbytes", 0) for a in inputs.arguments)
    return None if outcome.error or outcome.seconds > SLOW else float(peak + given)
