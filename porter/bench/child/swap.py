"""The operations of a call, counted where it is small enough and scaled where it is not."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

import numpy as np

from porter.bench.child.arguments import Arguments, Chosen
from porter.bench.child.limit import processor_limit
from porter.bench.child.operations import TooManyElements, Total, counted, counting
from porter.bench.sizes import halved
from porter.verify.loaded import Source
from porter.verify.oracle import calls

#: seconds that the original may take while it counts; an attempt that is too large takes them all
_PATIENCE = 0.2
#: times that sizes are made smaller
_ATTEMPTS = 8
#: elements of an argument that is made for it
_MOST = 1 << 22
#: the share of operations that are not there with an extent halved, beyond which nothing is scaled
_VANISHING = 0.5

#: how far from a whole number the power of an extent may be that lower powers stand beside
_WHOLE = 0.1
#: how much further one extent than another may be from the call's, when all are in proportion
_ALIKE = 1.05

Totals = dict[tuple[str, int], Total]


@dataclass(frozen=True)
class Thinner:
    """Counts of a call with half of an extent, or of all: by what it was divided (`halving`), and
    how much `more` than the one counted the user's call has."""

    totals: Totals
    halving: float
    more: float

    def factor(self, large: float, small: float) -> float:
        """What a count grows by from the extent that was counted to the call's.

        It is a power of the extent; a whole one may have the next lower one beside it, as the
        bytes of a matrix have those of a vector.
        """
        if not large or not small:
            return 1.0
        power = math.log(large / small, self.halving)
        lower = round(power) - 1.0
        if lower < 0 or abs(power - 1 - lower) > _WHOLE:
            return math.pow(self.more, power)
        slope = (1 - small / large * math.pow(self.halving, lower)) / (1 - 1 / self.halving)
        return math.pow(self.more, lower) * (1 + slope * (self.more - 1))


@dataclass(frozen=True)
class Original:
    """The function as it was written, with its file and its arguments."""

    function: Any
    source: Source
    arguments: Arguments

    def steps(self, chosen: Chosen) -> dict[str, Any]:
        """`steps`, the operations as `model.Step` has them, and `note`; without them `unknown`."""
        extents = dict(chosen.extents)
        for _ in range(_ATTEMPTS):
            try:
                found = self._totals(chosen.of(extents))
                if not found:
                    # such as np.minimum.reduce of a list: no array is asked
                    return {"unknown": "no operation was seen"}
                if extents == chosen.extents:
                    return {"steps": _steps(found), "note": ""}
                thinner = self._thinner(chosen, extents)
            except (calls.TooLong, TooManyElements, MemoryError):
                extents = halved(halved(extents))
                continue
            except Exception as error:
                text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
                return {"unknown": f"the original raises {text}"}
            said = ", ".join(f"{name}={n}" for name, n in extents.items())
            if _vanishes(found, thinner):
                return {"unknown": f"it was counted for {said}, which does not tell more"}
            note = f"operation by operation: counted for {said} and half of each, and scaled"
            return {"steps": _steps(_scaled(found, thinner)), "note": note}
        return {"unknown": "the original takes too long"}

    def _thinner(self, chosen: Chosen, extents: Mapping[str, int]) -> list[Thinner]:
        """The counts with all extents halved, where all are in proportion to the call's.

        Otherwise those with one extent halved, for each that is smaller than in the call.  Where
        extents depend on each other, the original raises with one halved alone: then all are.
        """
        half = halved(extents)
        more = [chosen.extents[name] / n for name, n in extents.items()]
        alike = bool(more) and max(more) < _ALIKE * min(more)
        if alike and all(half[name] == n // 2 for name, n in extents.items()):
            halving = [n / half[name] for name, n in extents.items()]
            totals = self._totals(chosen.of(half))
            return [Thinner(totals, geometric_mean(halving), geometric_mean(more))]
        found: list[Thinner] = []
        try:
            for name, n in extents.items():
                if n != chosen.extents[name]:
                    totals = self._totals(chosen.of({**extents, name: n // 2}))
                    found.append(Thinner(totals, n / (n // 2), chosen.extents[name] / n))
        except (calls.TooLong, TooManyElements, MemoryError):
            raise
        except Exception:
            return (
                [] if half == extents else [Thinner(self._totals(chosen.of(half)), 2.0, max(more))]
            )
        return found

    def _totals(self, chosen: Chosen) -> Totals:
        if any(math.prod(shape) > _MOST for shape in chosen.shapes):
            raise TooManyElements
        values = [counting(v) for _, v in self.arguments.make(chosen)]
        names = calls.keyword_only(self.function)
        count = len(values) - len(names)
        options = dict(zip(names, values[count:], strict=False))
        namespace = self.source.original.namespace
        with (
            counted(namespace, str(self.source.path)) as operations,
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            processor_limit(_PATIENCE),
        ):
            warnings.simplefilter("ignore")
            self.function(*values[:count], **options)
        return dict(operations.totals)


def _steps(totals: Totals) -> list[dict[str, Any]]:
    return [{"name": name, **vars(total)} for (name, _), total in totals.items()]


def _vanishes(found: Totals, thinner: Sequence[Thinner]) -> bool:
    """Whether nothing tells how operations grow: most are not there with an extent halved."""
    if not thinner:
        return True
    gone = sum(found[k].launches for k in found if any(k not in t.totals for t in thinner))
    return gone > _VANISHING * sum(total.launches for total in found.values())


def _scaled(found: Totals, thinner: Sequence[Thinner]) -> Totals:
    """Counts are products of powers of the extents: what they are for the extents of the call."""

    def grown(key: tuple[str, int], what: str) -> float:
        result = large = float(getattr(found[key], what))
        for one in thinner:
            small = float(getattr(one.totals.get(key, found[key]), what))
            result *= one.factor(large, small)
        return result

    return {
        key: Total(
            launches=grown(key, "launches"),
            bytes=grown(key, "bytes"),
            products=grown(key, "products"),
            single=total.single,
            columns=grown(key, "columns"),
        )
        for key, total in found.items()
    }
