"""A quicker Numba simulator for the corpus: threads of a block take turns.

Importing this needs NUMBA_ENABLE_CUDASIM=1.  Kernels without barriers run thread after
thread; with barriers, every thread runs to its next barrier before the next one does,
in an order that is shuffled at each barrier, so that a missing barrier shows.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator.kernelapi import Dim3

BARRIERS = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp"}


#: launches so far: what was being run, the kernel's name, its argument types
LAUNCHES: set[tuple[str, str, str]] = set()
CONTEXT = [""]


def install() -> None:
    """Make every launch of this process use `Block` and leave a record in `LAUNCHES`."""
    launch = simulator.FakeCUDAKernel.__call__

    def recorded(kernel: Any, *args: Any) -> Any:
        if not kernel._device and simulator._kernel_context is None:
            types = json.dumps([describe(a) for a in args])
            LAUNCHES.add((CONTEXT[0], kernel.fn.__name__, types))
        return launch(kernel, *args)

    simulator.BlockManager = Block
    simulator.FakeCUDAKernel.__call__ = recorded
    assert cuda.is_available()


def describe(argument: Any) -> Any:
    """A kernel argument's type, for `ptx`: arrays as [dtype, ndim, layout]."""
    if isinstance(argument, tuple):
        return ["tuple", *map(describe, argument)]
    if hasattr(argument, "shape") and not isinstance(argument, np.generic):
        contiguous = getattr(argument, "_ary", argument).flags["C_CONTIGUOUS"]
        return [str(argument.dtype), argument.ndim, "C" if contiguous else "A"]
    dtype = getattr(argument, "dtype", None)
    return str(dtype) if dtype is not None else type(argument).__name__


class Divergence(RuntimeError):
    """Some threads of a block wait at a barrier that others never reach."""


class Turn(threading.Thread):
    """One CUDA thread: it runs only while the block has handed it the turn."""

    def __init__(self, block: Block, point: tuple[int, ...], run: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.block, self.function = block, run
        self.threadIdx, self.blockIdx = Dim3(*point), block.index
        size = block.block_dim
        self.thread_id = point[0] + size[0] * (point[1] + size[1] * point[2])
        self.go = threading.Lock()
        self.go.acquire()
        self.waiting = False
        self.error: Exception | None = None

    def run(self) -> None:
        self.go.acquire()
        try:
            if not self.block.stopped:
                self.function()
        except Exception as error:
            self.error = error
        self.waiting = False
        self.block.back.release()

    def syncthreads(self) -> None:
        """Give the turn back until all threads of the block are here."""
        self.waiting = True
        self.block.back.release()
        self.go.acquire()
        if self.block.stopped:
            raise SystemExit

    def _vote(self, value: object) -> Any:
        self.block.votes[self.thread_id] = bool(value)
        self.syncthreads()
        votes = self.block.votes.copy()
        self.syncthreads()
        return votes

    def syncthreads_count(self, value: object) -> int:
        """A barrier that counts."""
        return int(self._vote(value).sum())

    def syncthreads_and(self, value: object) -> int:
        """A barrier that tells whether all values are true."""
        return int(self._vote(value).all())

    def syncthreads_or(self, value: object) -> int:
        """A barrier that tells whether any value is true."""
        return int(self._vote(value).any())


class Block:
    """Stands in for Numba's BlockManager."""

    def __init__(self, f: Callable[..., None], grid_dim: Any, block_dim: Any, debug: bool) -> None:
        del debug
        self.f, self.grid_dim = f, grid_dim
        self._block_dim = self.block_dim = block_dim
        self.back = threading.Lock()
        self.back.acquire()
        self.stopped = False
        self.votes = np.zeros(int(np.prod(block_dim)), dtype=bool)

    def run(self, grid_point: tuple[int, ...], *args: Any) -> None:
        """Run the block at `grid_point` to its end."""
        self.index = Dim3(*grid_point)
        points = [p[::-1] for p in np.ndindex(*self.block_dim[::-1])]
        order = random.Random(str(grid_point))
        if _has_barrier(self.f):
            self._in_turns(points, order, args)
        else:
            order.shuffle(points)
            self._one_by_one(points, args)

    def _one_by_one(self, points: list[tuple[int, ...]], args: tuple[Any, ...]) -> None:
        def all_points() -> None:
            for point in points:
                thread.threadIdx = Dim3(*point)
                self.f(*args)

        thread = Turn(self, (0, 0, 0), all_points)
        thread.start()
        thread.go.release()
        thread.join()
        if thread.error:
            raise thread.error

    def _in_turns(
        self, points: list[tuple[int, ...]], order: random.Random, args: tuple[Any, ...]
    ) -> None:
        live = [Turn(self, point, lambda: self.f(*args)) for point in points]
        for thread in live:
            thread.start()
        while live:
            order.shuffle(live)
            for thread in live:
                thread.go.release()
                self.back.acquire()
                if thread.error:
                    self._stop(live, thread.error)
            waiting = [thread for thread in live if thread.waiting]
            if waiting and len(waiting) < len(live):
                self._stop(live, Divergence(f"{len(waiting)} of {len(live)} threads wait"))
            live = waiting

    def _stop(self, live: list[Turn], error: Exception) -> None:
        self.stopped = True
        for thread in live:
            if thread.is_alive() and thread.go.locked():
                thread.go.release()
        raise error


def _has_barrier(f: Any, seen: frozenset[CodeType] = frozenset()) -> bool:
    """Whether a kernel or a device function that it calls uses a barrier."""
    code = getattr(getattr(f, "fn", f), "__code__", None)
    if code is None or code in seen:
        return False
    names = set(code.co_names)
    if names & BARRIERS:
        return True
    called = [getattr(f, "fn", f).__globals__.get(name) for name in names]
    return any(_has_barrier(g, seen | {code}) for g in called if callable(g))
