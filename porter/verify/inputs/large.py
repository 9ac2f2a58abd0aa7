"""How large a large case may be: as large as the original's memory and time allow."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace

from porter.verify.inputs.arguments import Inputs
from porter.verify.inputs.cases import CaseSpec, smaller
from porter.verify.oracle import calls

#: bytes that a case ten times as large may need, if they grow with the square of its size
MOST_BYTES = 256e6
#: seconds that the original may take
SLOW = 0.5
#: the same where the case is about its sizes
SLOWEST = 0.5
#: bytes that the arrays of such a case may take
MOST_EXACT = 120e6
#: sizes from which the cost of larger ones is told, the first that every original can afford
PROBES = (60, 120, 300, 1200)
#: no bytes, and no seconds, are taken to grow with a higher power of a size
MOST_POWER = (5.0, 3.0)


@dataclass
class Reach:
    """How far the cases beyond the table got: of how many, up to which size, why no further."""

    wanted: int = 0
    done: int = 0
    largest: int = 0
    costly: int = 0
    ended: bool = False

    def note(self, spec: CaseSpec) -> None:
        """Count one case."""
        self.done += 1
        self.largest = max(self.largest, *(int(n) for n in spec.sizes), spec.count)

    def to_json(self) -> dict[str, object]:
        """For the detail of the evidence."""
        return dict(vars(self))


class Growth:
    """How the cost of the original grows along an axis, told from small cases of each.

    `measure` gives the bytes and seconds of a case, None if the original raises in it.
    """

    def __init__(self, measure: Callable[[CaseSpec], tuple[float, float] | None]) -> None:
        self.measure = measure
        self.known: dict[tuple[str, ...], tuple[float, float] | None] = {}

    def fits(self, spec: CaseSpec, seconds: float) -> bool:
        """Whether a case can be afforded in some seconds."""
        longest = max((int(n) for n in spec.sizes), default=0)
        tame = longest <= PROBES[-1]
        if longest <= PROBES[0]:
            return True
        known: list[tuple[int, tuple[float, float]]] = []
        for size in PROBES:
            if len(known) > 1 and (size > longest or _bytes_at(size, known) > MOST_EXACT):
                break
            if len(known) == 1:
                (last, (first, _)), power = known[0], MOST_POWER[0]
                if tame and first * (longest / last) ** power <= MOST_EXACT:
                    return True
                if first * (size / last) ** power > 8 * MOST_EXACT:
                    return False  # to find out would take more than there is
            cost = self._at(spec, size)
            if cost is None or (tame and not known and _if_cubic(cost, longest) <= MOST_EXACT):
                return True
            known.append((size, cost))
        if _bytes_at(longest, known) > MOST_EXACT:
            return False
        return tame or _extrapolated(longest, known, 1) <= min(SLOWEST, seconds)

    def _at(self, spec: CaseSpec, size: int) -> tuple[float, float] | None:
        """The cost of a case whose longest axis has another size."""
        sizes = [int(n) for n in spec.sizes]
        axis = sizes.index(max(sizes))
        words = tuple(str(size) if k == axis else w for k, w in enumerate(spec.sizes))
        if words not in self.known:
            plain = replace(spec, layout="C", form="host", event="", count=0)
            self.known[words] = self.measure(replace(plain, sizes=words))
        return self.known[words]


def _if_cubic(cost: tuple[float, float], size: int) -> float:
    """The bytes at a size, from those at the first, if they grow with its cube."""
    return cost[0] * (size / PROBES[0]) ** 3


def _bytes_at(size: int, known: list[tuple[int, tuple[float, float]]]) -> float:
    return _extrapolated(size, known, 0)


def _extrapolated(size: int, known: list[tuple[int, tuple[float, float]]], k: int) -> float:
    """A cost at a size, from those at the last two that are known, as a power of the size."""
    (low, small), (high, large) = known[-2:]
    power = math.log(max(large[k], 1e-9) / max(small[k], 1e-9)) / math.log(high / low)
    return float(large[k] * (size / high) ** min(max(power, 0.0), MOST_POWER[k]))


def effort(function: Callable[..., object], inputs: Inputs) -> tuple[float, float] | None:
    """The bytes and seconds that a run of the original takes; None if it raises."""
    seconds = calls.original(function, inputs).seconds
    size = bytes_of(function, inputs)
    return None if size is None else (size, seconds)


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
    return None if outcome.error or outcome.seconds > SLOW else float(peak + inputs.nbytes)
