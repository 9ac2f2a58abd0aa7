"""How far results that passed are from the original's: in units of the last place, and of the
budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Error:
    """The error of one element: `ulp` in units of its last place, `share` of its budget."""

    ulp: float = 0.0
    share: float = 0.0
    place: str = ""
    index: tuple[int, ...] | None = None
    case: int = -1

    def to_json(self) -> dict[str, Any]:
        """The error as a JSON object, its figures short."""
        figures = {"ulp": float(f"{self.ulp:.3g}"), "share": float(f"{self.share:.3g}")}
        index = None if self.index is None else list(self.index)
        return {**figures, "place": self.place, "index": index, "case": self.case}


@dataclass
class Worst:
    """The largest errors of all elements that were compared; `floats` counts the results.

    An element that cancellation left small has a large error in its own last place and a
    budget to match: both maxima are kept.
    """

    floats: int = 0
    ulp: Error = Error()
    share: Error = Error()
    case: int = -1

    def add(self, place: str, expected: Array, actual: Array, apart: Array, allowed: Array) -> None:
        """Count one array of floats that passed, both its parts finite or not."""
        self.floats += 1
        finite = np.isfinite(apart) & np.isfinite(expected) & np.isfinite(actual)
        if not finite.any():
            return
        apart = np.where(finite, apart, 0)
        size = np.where(finite, np.abs(expected), 1).astype(expected.dtype)
        last = np.spacing(np.maximum(size, np.finfo(expected.dtype).tiny))
        ulps, shares = np.asarray(apart / last), np.asarray(apart / allowed)
        for what, figures in (("ulp", ulps), ("share", shares)):
            index = tuple(int(i) for i in np.unravel_index(int(figures.argmax()), figures.shape))
            error = Error(float(ulps[index]), float(shares[index]), place, index, self.case)
            if getattr(error, what) > getattr(getattr(self, what), what):
                setattr(self, what, error)

    def to_json(self) -> dict[str, Any]:
        """The keys of the evidence; none if no floats were compared."""
        if not self.floats:
            return {}
        return {"worst_ulp": self.ulp.to_json(), "worst_share": self.share.to_json()}
