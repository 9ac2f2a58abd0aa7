"""Arrays with one element unlike all others, at the first position or the last.

A flag that is kept as the position at which something was found is 0 for the first element:
whoever asks `if flag` misses it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: what an event may be, after the position: `first nan`, `last smallest`
KINDS = ("nan", "largest", "smallest", "zero")


def put(values: np.ndarray[Any, Any], event: str, *, index: bool) -> None:
    """Make the first or the last element of an array an event, in place."""
    place, kind = event.split()
    at = 0 if place == "first" else -1
    flat = values.reshape(-1)
    letter = values.dtype.kind
    if letter == "b":
        flat[...] = kind == "zero"
        flat[at] = kind != "zero"
    elif letter in "iu":
        _put_integer(flat, at, kind, index=index)
    elif letter in "fc":
        # all others are above zero
        flat[...] = np.abs(flat) + 0.25
        top = float(np.max(np.abs(flat)))
        flat[at] = {"nan": math.nan, "largest": 2 * top + 1, "smallest": -top - 1, "zero": 0}[kind]


def _put_integer(flat: np.ndarray[Any, Any], at: int, kind: str, *, index: bool) -> None:
    if index:
        # out of range in one place, beyond what any axis has
        wrong = {"largest": 1 << 20, "smallest": -(1 << 20) if flat.dtype.kind == "i" else 1 << 20}
        if kind in wrong and np.iinfo(flat.dtype).max >= 1 << 20:
            if kind == "largest":
                # nothing else is: 0 is in range of whatever is not empty
                flat[...] = 0
            flat[at] = wrong[kind]
        return
    flat[...] = np.where(flat == 0, 1, flat)
    if kind == "zero":
        flat[at] = 0
    elif kind in ("largest", "smallest"):
        ends = int(flat.max()), int(flat.min())
        info = np.iinfo(flat.dtype)
        flat[at] = min(ends[0] + 1, info.max) if kind == "largest" else max(ends[1] - 1, info.min)
