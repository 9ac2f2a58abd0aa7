"""Warp operations: what the lanes of a warp give one another when all of them are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.emulate.device import context as ctx
from porter.emulate.errors import BarrierError
from porter.emulate.source.sites import SITES, WARP
from porter.emulate.source.threads import ENDED

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
LANES = 32
#: what a lane gets that reads from one which takes no part: NaN in either float type
NOTHING = 0x7FF87FF87FF87FF8
_ALL = 0xFFFFFFFF
_LANE = np.arange(LANES)
_BIT = 1 << _LANE


def release(where: Ints, slots: Ints, place: tuple[int, int, int]) -> Ints:
    """Complete the exchanges that are complete; the threads of this block that can go on."""
    if _whole(where, slots):
        return np.arange(len(where))
    free: list[int] = []
    stuck = -1
    for first in range(0, len(where), LANES):
        lanes = np.arange(first, min(first + LANES, len(where)))
        waiting = [int(k) for k in lanes if _at_warp(int(where[k]))]
        done = _warp(where, slots, lanes, waiting) if waiting else []
        free += done
        if waiting and not done:
            stuck = waiting[0]
    if not free:
        raise _stuck(where, slots, stuck, place)
    return np.array(free, np.int64)


def _at_warp(site: int) -> bool:
    return site != ENDED and SITES[site].kind == WARP


def _whole(where: Ints, slots: Ints) -> bool:
    """Complete the operation of a block whose threads are all at one place, with full masks."""
    what = SITES[int(where[0])].what
    if what == "activemask" or len(where) % LANES or (where != where[0]).any():
        return False
    if ((slots[:, ctx.MASK] & _ALL) != _ALL).any():
        return False
    warps = slots.reshape(-1, LANES, ctx.CELLS)
    present = np.ones(warps.shape[:2], np.bool_)
    result = _results(what, warps[..., ctx.VALUE], warps[..., ctx.OPERAND], present)
    warps[..., ctx.RESULT] = result
    warps[..., ctx.CLOCK] = warps[..., ctx.CLOCK].max(axis=1, keepdims=True) + 1
    return True


def _warp(where: Ints, slots: Ints, lanes: Ints, waiting: list[int]) -> list[int]:
    """The lanes of one warp whose operation is complete."""
    free: list[int] = []
    for site in sorted({int(where[k]) for k in waiting}):
        here = np.array([k for k in waiting if where[k] == site])
        what = SITES[site].what
        if what == "activemask":
            # the lanes that have come this far together
            slots[here, ctx.RESULT] = int(_BIT[here % LANES].sum())
            free += here.tolist()
            continue
        masks = slots[here, ctx.MASK] & _ALL
        for mask in np.unique(masks):
            group = here[masks == mask]
            named = lanes[(mask & _BIT[lanes % LANES]) != 0]
            expected = named[where[named] != ENDED]
            if len(expected) == len(group) and (expected == group).all():
                _exchange(what, slots, group)
                free += group.tolist()
    return free


def _exchange(what: str, slots: Ints, group: Ints) -> None:
    """Fill in the results of one operation of some lanes of a warp."""
    rows = np.zeros((2, 1, LANES), np.int64)
    rows[:, 0, group % LANES] = slots[group][:, [ctx.VALUE, ctx.OPERAND]].T
    present = np.zeros((1, LANES), np.bool_)
    present[0, group % LANES] = True
    slots[group, ctx.RESULT] = _results(what, rows[0], rows[1], present)[0, group % LANES]
    # later than everything that any of them did before
    slots[group, ctx.CLOCK] = slots[group, ctx.CLOCK].max() + 1


def _results(what: str, values: Ints, operands: Ints, present: Bools) -> Ints:
    """What every lane gets; a row of the arrays is a warp."""
    bits = np.where(present, _BIT, 0)
    if what.startswith("shfl"):
        return _shuffled(what, np.where(present, values, NOTHING), operands)
    if what.startswith("match"):
        same = (values[:, :, None] == values[:, None, :]) & present[:, None, :]
        matching: Ints = (same * _BIT).sum(axis=2)
        if what == "match_any_sync":
            return matching
        every = bits.sum(axis=1, keepdims=True)
        return np.where((matching == every) | ~present, every, 0)
    truths = (values != 0) & present
    every_true = (truths | ~present).all(axis=1, keepdims=True)
    some_true = truths.any(axis=1, keepdims=True)
    results = {
        "ballot_sync": (truths * _BIT).sum(axis=1, keepdims=True),
        "all_sync": every_true,
        "any_sync": some_true,
        "eq_sync": every_true | ~some_true,
        "syncwarp": some_true,
    }
    every_lane: Ints = np.broadcast_to(results[what], values.shape).astype(np.int64)
    return every_lane


def _shuffled(what: str, values: Ints, operands: Ints) -> Ints:
    source = {
        "shfl_sync": operands % LANES,
        "shfl_up_sync": _LANE - operands,
        "shfl_down_sync": _LANE + operands,
        "shfl_xor_sync": _LANE ^ operands,
    }[what]
    # beyond the warp's ends a lane keeps its own
    source = np.where((source < 0) | (source >= LANES), _LANE, source)
    taken: Ints = np.take_along_axis(values, source, axis=1)
    return taken


def _stuck(where: Ints, slots: Ints, thread: int, place: tuple[int, int, int]) -> BarrierError:
    site = SITES[int(where[thread])]
    mask = int(slots[thread, ctx.MASK]) & _ALL
    first = thread // LANES * LANES
    lanes = range(first, min(first + LANES, len(where)))
    named = [k for k in lanes if mask >> (k % LANES) & 1]
    others = [int(where[k]) for k in named if where[k] not in (ENDED, where[thread])]
    text = f"`{site.what}` at line {site.line} of `{site.function}`"
    if not mask >> (thread % LANES) & 1:
        text += " has a mask without the lane that calls it"
    elif others:
        other = SITES[others[0]]
        text += f" waits for lanes that are at `{other.what}` at line {other.line}"
    else:
        text += " is reached with different masks"
    return BarrierError(f"{text} (thread {thread} of block {place})")
