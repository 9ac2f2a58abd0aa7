"""Two threads that store different numbers into one element: noticed while the simulator runs.

One thread runs at a time there, so `out[k] += x` without an atomic is right by luck: no thread
is stopped between its read and its write.  Every store into an array of the launch is
therefore noted with its thread, and a second thread that changes what the first wrote, with
no barrier in between, is an error.  Storing what is there already (a flag) is none, and
kernels with fences or locks are left alone: an order that they make is not followed.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray as DeviceArray

#: in a kernel with one of these (beginnings of names) an order may come from more than barriers
ORDERS = ("threadfence", "syncwarp", "cas", "exch", "compare_and_swap")
_KEY = "porter_writes"
#: how many atomic operations are under way: their stores are in order
_ATOMIC = [0]


class RaceError(RuntimeError):
    """Two threads store into one element in no order."""


def watch(function: Any, args: tuple[Any, ...]) -> None:
    """Note the stores into the arrays of a launch; the same arrays are given for every block."""
    names = function.__code__.co_varnames
    for name, value in zip(names, args, strict=False):
        if isinstance(value, DeviceArray) and _KEY not in vars(value):
            vars(value)[_KEY] = (name, {})


def _store(self: Any, index: Any, value: Any) -> None:
    noted = vars(self).get(_KEY)
    item = self._item
    if noted is None or _ATOMIC[0]:
        item[index] = value
        return
    before = item[index]
    item[index] = value
    after = item[index]
    if getattr(after, "ndim", 0) or before == after or (before != before and after != after):
        return
    name, writers = noted
    thread: Any = threading.current_thread()
    mine = (thread.blockIdx, thread.thread_id, getattr(thread, "phase", 0))
    key = _absolute(index, item.shape)
    last = writers.get(key)
    if last is not None and _unordered(last, mine):
        raise RaceError(
            f"race on `{name}[{_shown(key)}]`: {_said(last)} stores another number there"
        )
    writers[key] = mine


def _unordered(one: tuple[Any, int, int], other: tuple[Any, int, int]) -> bool:
    # every block has a `blockIdx` of its own
    if one[0] is not other[0]:
        return True
    return one[1] != other[1] and one[2] == other[2]


def _said(writer: tuple[Any, int, int]) -> str:
    return f"thread {writer[1]} of block {tuple(writer[0])}"


def _absolute(index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(int(k) + n if k < 0 else int(k) for k, n in zip(parts, shape, strict=False))


def _shown(key: tuple[int, ...]) -> str:
    return ", ".join(map(str, key))


def _atomically(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def apply(*args: Any) -> Any:
        _ATOMIC[0] += 1
        try:
            return plain(*args)
        finally:
            _ATOMIC[0] -= 1

    return apply


def install() -> None:
    """Put the notes into Numba's simulator."""
    DeviceArray.__setitem__ = _store
    atomic = kernelapi.FakeCUDAAtomic
    for name, value in vars(atomic).copy().items():
        if callable(value) and not name.startswith("__"):
            setattr(atomic, name, _atomically(value))
