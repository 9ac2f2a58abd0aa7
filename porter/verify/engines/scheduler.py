"""A block runner for Numba's simulator: fast, deterministic, and unkind to races.

Numba's own runs every CUDA thread of a block as an operating-system thread and polls for
barriers.  Here one thread runs at a time, in a random order, from one barrier to the next:
a kernel without barriers needs no operating-system threads at all, and a read that lacks a
barrier before it sees what was there before, every time.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from porter.verify.engines import writes

_STACK = 512 * 1024


class BarrierError(RuntimeError):
    """Threads of a block wait at a barrier that others never reach."""


class _Stop(BaseException):
    """Unwinds a thread of a block that failed elsewhere."""


class Order:
    """The source of the random orders; reset for every case, so that cases repeat."""

    def __init__(self) -> None:
        self.random = random.Random(0)

    def reset(self, seed: int) -> None:
        """Start the orders of one case."""
        self.random = random.Random(seed)


ORDER = Order()


def _taken() -> threading.Lock:
    """A lock to wait at until another thread releases it; cheaper than a semaphore."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class Lane(threading.Thread):
    """An operating-system thread that plays CUDA threads, one after another.

    It runs only while it holds the baton, which `go` hands over.  At a barrier and at its
    end it hands the baton to the next lane of the block.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.go = _taken()
        self.block: Block | None = None
        self.job: Callable[[], None] | None = None
        self.waiting = False
        self.stopped = False
        self.error: BaseException | None = None
        self.point: tuple[int, ...] = ()
        # how many barriers it has passed
        self.phase = 0

    def run(self) -> None:
        """Play one CUDA thread for every baton until the process ends."""
        np.seterr(all="ignore")
        while True:
            self.go.acquire()
            try:
                if self.job is not None:
                    self.job()
            except _Stop:
                pass
            except BaseException as error:
                self.error = error
            self.job = None
            self._pass_on()

    def _pass_on(self) -> None:
        assert self.block is not None
        self.block.next(self)

    def syncthreads(self) -> None:
        """Give the baton back until every thread of the block is here."""
        self.waiting = True
        self._pass_on()
        self.go.acquire()
        self.waiting = False
        self.phase += 1
        if self.stopped:
            raise _Stop

    def _vote(self, value: Any, count: Callable[[Any], Any]) -> Any:
        assert self.block is not None
        self.block.votes[self.point] = bool(value)
        self.syncthreads()
        result = count(self.block.votes)
        self.syncthreads()
        return result

    def syncthreads_count(self, value: Any) -> Any:
        """How many threads of the block hold a true value."""
        return self._vote(value, np.count_nonzero)

    def syncthreads_and(self, value: Any) -> Any:
        """1 when every thread of the block holds a true value."""
        return self._vote(value, lambda votes: int(np.all(votes)))

    def syncthreads_or(self, value: Any) -> Any:
        """1 when some thread of the block holds a true value."""
        return self._vote(value, lambda votes: int(np.any(votes)))


class _Pool:
    """Lanes are made once and used for every block."""

    def __init__(self) -> None:
        self.lanes: list[Lane] = []

    def take(self, count: int) -> list[Lane]:
        if len(self.lanes) < count:
            threading.stack_size(_STACK)
        while len(self.lanes) < count:
            lane = Lane()
            lane.start()
            self.lanes.append(lane)
        return self.lanes[:count]


_POOL = _Pool()


class Block:
    """Stands in for `numba.cuda.simulator.kernel.BlockManager`."""

    def __init__(self, f: Any, grid_dim: Any, block_dim: Any, debug: bool) -> None:
        self._f = f
        self._grid = tuple(grid_dim)
        self._dim = tuple(block_dim)
        self.votes = np.zeros(self._dim, dtype=np.bool_)
        self._queue: list[Lane] = []
        self._finished = _taken()

    def run(self, grid_point: tuple[int, ...], *args: Any) -> None:
        """Run all threads of one block; what a thread raises is raised, with its place."""
        # on a GPU there is no simulator
        from numba.cuda.simulator import kernel as simulator
        from numba.cuda.simulator.kernelapi import Dim3

        context = simulator._get_kernel_context()
        point = _shuffled(context, self._grid, grid_point)
        # shared memory is new for every block, and holds nothing useful
        context._shared._allocations.clear()
        points = list(np.ndindex(*self._dim))
        ORDER.random.shuffle(points)
        if not orders(self._f):
            writes.watch(self._f, args)
        if barriers(self._f):
            self._run_lanes(Dim3(*point), points, Dim3, args)
        else:
            self._run_here(Dim3(*point), points, Dim3, args)

    def _run_here(self, block: Any, points: list[Any], dim3: Any, args: Any) -> None:
        thread: Any = threading.current_thread()
        thread.blockIdx = block
        thread.syncthreads = _unexpected
        for point in points:
            self._place(thread, point, dim3)
            try:
                self._f(*args)
            except Exception as error:
                raise _located(error, thread) from error

    def _place(self, thread: Any, point: tuple[int, ...], dim3: Any) -> None:
        thread.threadIdx = dim3(*point)
        x, y, _ = self._dim
        thread.thread_id = point[0] + x * (point[1] + y * point[2])

    def _run_lanes(self, block: Any, points: list[Any], dim3: Any, args: Any) -> None:
        lanes = _POOL.take(len(points))
        for lane, point in zip(lanes, points, strict=True):
            thread: Any = lane
            thread.blockIdx, lane.block, lane.point = block, self, point
            lane.stopped, lane.error, lane.phase = False, None, 0
            self._place(thread, point, dim3)
            lane.job = lambda: self._f(*args)
        alive = list(lanes)
        while alive:
            self._phase(alive)
            failed = next((lane for lane in alive if lane.error is not None), None)
            if failed is not None and failed.error is not None:
                self._stop(lanes)
                raise _located(failed.error, failed) from failed.error
            alive = [lane for lane in alive if lane.waiting]
            if alive and len(alive) != len(lanes):
                self._stop(lanes)
                raise BarrierError(
                    f"{len(lanes) - len(alive)} of {len(lanes)} threads of a block end before"
                    f" a barrier that the others wait at in `{self._f.__name__}`"
                )
            ORDER.random.shuffle(alive)

    def _phase(self, lanes: list[Lane]) -> None:
        """Let every lane run to its next barrier, its end or its error."""
        self._queue = lanes[::-1]
        self._queue.pop().go.release()
        self._finished.acquire()

    def next(self, lane: Lane) -> None:
        """Hand the baton on: to the next lane, or back to the runner."""
        if self._queue and lane.error is None:
            self._queue.pop().go.release()
        else:
            self._finished.release()

    def _stop(self, lanes: list[Lane]) -> None:
        for lane in lanes:
            lane.stopped = True
            if lane.waiting:
                self._phase([lane])
            lane.job = None


def _unexpected(*_: Any) -> None:
    raise RuntimeError("a barrier is reached through a name that the verifier cannot follow")


def _located(error: BaseException, thread: Any) -> BaseException:
    place = f"thread {tuple(thread.threadIdx)} of block {tuple(thread.blockIdx)}"
    try:
        located: BaseException = type(error)(f"{error} ({place})".strip())
    except TypeError:
        located = RuntimeError(f"{type(error).__name__}: {error} ({place})")
    located.in_kernel = True  # type: ignore[attr-defined]
    return located.with_traceback(error.__traceback__)


def from_kernel(error: BaseException | None) -> bool:
    """Whether an exception was raised inside a kernel, where a GPU raises none."""
    return bool(getattr(error, "in_kernel", False))


def _shuffled(context: Any, grid: tuple[int, ...], point: tuple[int, ...]) -> tuple[int, ...]:
    """The blocks of a launch run in a random order, as they do on a GPU."""
    if not hasattr(context, "porter_order"):
        points = list(np.ndindex(*grid))
        ORDER.random.shuffle(points)
        context.porter_order = dict(zip(np.ndindex(*grid), points, strict=True))
    order: dict[tuple[int, ...], tuple[int, ...]] = context.porter_order
    return order[tuple(point)]


def barriers(function: Any) -> bool:
    """Whether a kernel, or a function that it calls by a global name, has a barrier."""
    return _mentions(function, ("sync", "this_grid"))


def orders(function: Any) -> bool:
    """Whether a kernel may order its stores by other means than barriers."""
    return _mentions(function, writes.ORDERS)


def shuffles(function: Any) -> bool:
    """Whether lanes of a warp give each other values, which the simulator has not."""
    return _mentions(function, ("shfl", "any_sync", "all_sync"))


_MENTIONS: dict[tuple[Any, tuple[str, ...]], bool] = {}


def _mentions(function: Any, prefixes: tuple[str, ...]) -> bool:
    key = function.__code__, prefixes
    if key not in _MENTIONS:
        _MENTIONS[key] = _search(function, prefixes, set())
    return _MENTIONS[key]


def _search(function: Any, prefixes: tuple[str, ...], seen: set[Any]) -> bool:
    function = getattr(function, "fn", function)
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return False
    seen.add(code)
    names = set(_names(code))
    if any(name.startswith(prefixes) for name in names):
        return True
    cells = [c.cell_contents for c in function.__closure__ or ()]
    called = [function.__globals__.get(name) for name in names] + cells
    return any(_search(f, prefixes, seen) for f in called if callable(f))


def _names(code: Any) -> set[str]:
    inner = [_names(c) for c in code.co_consts if hasattr(c, "co_names")]
    return set(code.co_names).union(*inner)
