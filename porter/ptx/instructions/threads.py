"""Rows of threads (PTX ISA 9.7.12, 9.7.13): branches, barriers, and what lanes of a warp exchange.

The functions of a warp's operations take the `Lanes` that execute one together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.instructions.rows import Form, Row

_U32 = np.uint32


@dataclass(frozen=True)
class Lanes:
    """Threads that execute an instruction together: their numbers, lanes, warps.

    `warps` numbers the warps from 0 to `count`; `every` is how many threads there are.
    """

    threads: Array
    lanes: Array
    warps: Array
    count: int
    every: int

    def full(self, values: Array) -> Array:
        """One value for each of the lanes."""
        return np.broadcast_to(values, self.lanes.shape)

    def ballot(self, predicate: Array) -> Array:
        """For each warp, the bits of its lanes where a predicate holds."""
        weights = np.where(predicate, np.left_shift(np.int64(1), self.lanes), 0)
        found = np.bincount(self.warps, weights.astype(np.float64), self.count)
        return found.astype(np.uint32)

    def among(self, member: Array) -> Array:
        """Whether each lane is in the mask that it gives."""
        found: Array = (self.full(member) >> self.lanes.astype(_U32)) & _U32(1) != 0
        return found


def _shuffle(form: Form) -> Any:
    """`shfl.sync`: the value of another lane, and whether that lane is in range."""
    mode = form.words[1]

    def shuffled(lanes: Lanes, a: Array, b: Array, c: Array, member: Array) -> Any:
        own = lanes.lanes
        step = lanes.full(b & _U32(31)).astype(np.int64)
        clamp = lanes.full(c & _U32(31)).astype(np.int64)
        segment = lanes.full((c >> _U32(8)) & _U32(31)).astype(np.int64)
        last = (own & segment) | (clamp & ~segment)
        if mode == "up":
            other = own - step
            inside = other >= last
        else:
            chosen = {
                "down": own + step,
                "bfly": own ^ step,
                "idx": (own & segment) | (step & ~segment),
            }
            other = chosen[mode]
            inside = other <= last
        other = np.where(inside, other, own)
        # of a lane that does not take part, or is not in its own mask, nothing is known: ones
        ones = a.dtype.type(-1 if a.dtype.kind == "i" else 0xFFFFFFFF)
        takes_part = lanes.among(member)
        every = np.full(lanes.every, ones)
        every[lanes.threads] = np.where(takes_part, lanes.full(a), ones)
        source = np.minimum(lanes.threads - own + other, lanes.every - 1)
        return np.where(takes_part, every[source], ones), inside

    return shuffled


def _vote(form: Form) -> Any:
    """`vote.sync`: over the lanes of the mask that execute it."""
    mode = form.words[1]

    def voted(lanes: Lanes, p: Array, member: Array) -> Array:
        inside = lanes.among(member)
        yes = lanes.ballot(lanes.full(p) & inside)[lanes.warps]
        if mode == "ballot":
            return yes
        every = lanes.ballot(inside)[lanes.warps]
        if mode == "uni":
            found: Array = (yes == every) | (yes == 0)
        else:
            found = yes == every if mode == "all" else yes != 0
        return found

    return voted


def _match_any(lanes: Lanes, a: Array, member: Array) -> Array:
    """`match.any.sync`: the lanes of the mask that hold the same value."""
    inside = lanes.among(member)
    _, values = np.unique(lanes.full(a), return_inverse=True)
    pairs, group = np.unique(
        np.stack([lanes.warps, values.reshape(-1), inside.astype(np.int64)]), axis=1,
        return_inverse=True,
    )  # fmt: skip
    group = group.reshape(-1)
    weights = np.left_shift(np.int64(1), lanes.lanes).astype(np.float64)
    return np.bincount(group, weights, pairs.shape[1]).astype(np.uint32)[group]


def _match_all(lanes: Lanes, a: Array, member: Array) -> tuple[Array, Array]:
    """`match.all.sync`: the mask where all of its lanes hold the same value, else 0."""
    alike = _match_any(lanes, a, member) == lanes.full(member)
    return np.where(alike, lanes.full(member), _U32(0)), alike


def _reduce(form: Form) -> Any:
    """`redux.sync`: a value of all lanes of the mask."""
    functions: dict[str, tuple[Any, int]] = {
        "add": (np.add, 0), "and": (np.bitwise_and, -1), "or": (np.bitwise_or, 0),
        "xor": (np.bitwise_xor, 0), "min": (np.minimum, 1), "max": (np.maximum, -1),
    }  # fmt: skip
    function, first = functions[form.words[1]]

    def reduced(lanes: Lanes, a: Array, member: Array) -> Array:
        values = lanes.full(a)
        limits = np.iinfo(a.dtype)
        start = first % (1 << 32) if a.dtype.kind == "u" else first
        if form.has("min"):
            start = limits.max
        elif form.has("max"):
            start = limits.min
        found = np.full(lanes.count, start, a.dtype)
        inside = lanes.among(member)
        function.at(found, lanes.warps[inside], values[inside])
        return found[lanes.warps]

    return reduced


def _active(lanes: Lanes) -> Array:
    return lanes.ballot(np.ones(lanes.lanes.shape, np.bool_))[lanes.warps]


def _always(function: Any) -> Any:
    return lambda form: function


def _nothing(lanes: Lanes, member: Array) -> None:
    return None


def _none(form: Form) -> Any:
    return None


_B, _C, _S, _W = "branch", "control", "barrier", "warp"
ROWS = (
    Row("bra [uni]", "|label", _none, "to a label", _B, _C),
    Row("brx idx [uni]", "|u32 label", _none, "to the label of a number", _B, _C),
    Row("ret", "|", _none, "to the caller; a kernel's thread ends", _B, _C),
    Row("exit", "|", _none, "the thread ends", _B, _C),
    Row("bar sync", "|", _none, "all threads of the block that have not ended", _S, _S),
    Row("barrier sync [aligned]", "|", _none, "the same", _S, _S),
    Row("bar red popc u32", "u32|", _none, "how many predicates hold", _S, _S),
    Row("bar red {and or} pred", "pred|", _none, "all, or any, predicates", _S, _S),
    Row("barrier red popc [aligned] u32", "u32|", _none, "the same", _S, _S),
    Row("barrier red {and or} [aligned] pred", "pred|", _none, "the same", _S, _S),
    Row("membar {gl cta sys}", "|", _none, "orders accesses: they are in order here", _S, "order"),
    Row("fence [acq_rel sc] {cta gpu sys}", "|", _none, "the same", _S, "order"),
    Row("nanosleep u32", "|u32", _none, "nothing", "other", "order"),
    Row(
        "shfl sync {up down bfly idx} b32", "t pred|t u32 u32 u32", _shuffle,
        "the value of another lane, and whether it is in range", _W, _W,
    ),
    Row("vote sync {all any uni} pred", "pred|pred u32", _vote, "predicates of a warp", _W, _W),
    Row("vote sync ballot b32", "b32|pred u32", _vote, "predicates of a warp, as bits", _W, _W),
    Row(
        "match any sync {b32 b64}", "b32|t u32", _always(_match_any), "lanes of the same value",
        _W, _W,
    ),
    Row(
        "match all sync {b32 b64}", "b32 pred|t u32", _always(_match_all), "whether all have it",
        _W, _W,
    ),
    Row(
        "redux sync {add min max and or xor} {u32 s32 b32}", "t|t u32", _reduce,
        "a value of all lanes", _W, _W,
    ),
    Row("activemask b32", "b32|", _always(_active), "lanes that execute it together", _W, _W),
    Row("bar warp sync", "|u32", _always(_nothing), "waits for the lanes of the mask", _S, _W),
)  # fmt: skip
