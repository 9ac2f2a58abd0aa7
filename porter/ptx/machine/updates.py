"""Atomics of many threads: each element is updated by one thread after another, by their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array

#: functions whose `at` does the same as one update after another
_TOGETHER = (
    np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor
)  # fmt: skip


def update(memory: Array, at: Array, function: Any, values: tuple[Array, ...], wanted: bool) -> Any:
    """Store function(old, *values) at each index; what was there, where it is wanted."""
    if not wanted and function in _TOGETHER:
        function.at(memory, at, values[0])
        return None
    if len(values) == 2:
        return _compare_and_swap(memory, at, *values)
    return _in_turn(memory, at, function, values[0])


def _in_turn(memory: Array, at: Array, function: Any, value: Array) -> Array:
    """Rounds: in each, the first thread that is left for every element."""
    old = np.empty(len(at), memory.dtype)
    left = np.arange(len(at))
    while len(left):
        _, first = np.unique(at[left], return_index=True)
        now = left[first]
        old[now] = memory[at[now]]
        memory[at[now]] = function(old[now], value[now])
        left = np.delete(left, first)
    return old


def _compare_and_swap(memory: Array, at: Array, wanted: Array, value: Array) -> Array:
    """The same; threads that find something else change nothing, and need no round."""
    old = np.empty(len(at), memory.dtype)
    left = np.arange(len(at))
    while len(left):
        now = memory[at[left]]
        old[left] = now
        found = np.flatnonzero((now == wanted[left]) & (now != value[left]))
        if not len(found):
            break
        _, first = np.unique(at[left[found]], return_index=True)
        chosen = left[found[first]]
        memory[at[chosen]] = value[chosen]
        # after the first that changes an element, the others look again
        changed = dict(zip(at[chosen].tolist(), chosen.tolist(), strict=True))
        after = np.array([changed.get(a, len(at)) for a in at[left].tolist()])
        left = left[left > after]
    return old
