"""Numba's simulator with streams that are late: what is put on them is done when somebody waits.

A copy reads its source when it is done, not when it is asked for; so a buffer that is filled again
too early, or read too early, gives wrong results.  With `seed` some work is done before anybody
waits, on any stream, in the order of each.  What is put on one stream while another one still
works with the same memory is a complaint, too, whatever the results are.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as sim_kernel
from numba.cuda.simulator.cudadrv import devicearray

_PLAIN_CALL = sim_kernel.FakeCUDAKernel.__call__


@dataclass
class Work:
    """Something on a stream, and the memory that it reads and writes."""

    what: str
    do: Callable[[], Any]
    reads: list[Any] = field(default_factory=list)
    writes: list[Any] = field(default_factory=list)


def _base(array: Any) -> Any:
    return getattr(array, "_ary", array)


def _meet(some: list[Any], others: list[Any]) -> bool:
    return any(np.may_share_memory(_base(a), _base(b)) for a in some for b in others)


class Recorder:
    """All streams, what is complained about, and how many streams were busy at once."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, seed: int | None) -> None:
        """Forget everything; without a `seed` all work is as late as it can be."""
        self.random = None if seed is None else random.Random(seed)
        self.pending: dict[int, list[Work]] = {}
        self.complaints: list[str] = []
        self.log: list[tuple[str, int]] = []
        self.busiest = 0
        self.streams: list[Any] = []

    def put(self, stream: Any, work: Work) -> Work:
        """Put something on a stream; without one it waits for all that is under way."""
        if not stream:
            self.finish()
            work.do()
            return work
        for other, waiting in self.pending.items():
            for w in waiting if other != id(stream) else ():
                if _meet(work.writes, [*w.reads, *w.writes]) or _meet(work.reads, w.writes):
                    self.complaints.append(f"{work.what} beside {w.what} on another stream")
        self.pending.setdefault(id(stream), []).append(work)
        self.busiest = max(self.busiest, sum(map(bool, self.pending.values())))
        self.some()
        return work

    def host_writes(self, memory: Any) -> None:
        """The host changes memory: nothing on a stream may still need it."""
        for w in (w for waiting in self.pending.values() for w in waiting):
            if _meet([memory], [*w.reads, *w.writes]):
                self.complaints.append(f"the host fills a buffer before {w.what}")

    def some(self) -> None:
        """Do a little of what is under way."""
        while self.random is not None and self.random.random() < 0.6:
            busy = [s for s, waiting in self.pending.items() if waiting]
            if not busy:
                return
            self._next(self.random.choice(busy))

    def finish(self, stream: Any = None, until: Work | None = None) -> None:
        """Wait for a stream, or for all; or for one piece of its work and what is before that."""
        for key in [id(stream)] if stream is not None else list(self.pending):
            waiting = self.pending.get(key, [])
            while waiting and (until is None or until in waiting):
                self._next(key)

    def _next(self, key: int) -> None:
        work = self.pending[key].pop(0)
        self.log.append((work.what, key))
        work.do()


RECORDER = Recorder()


class Stream:
    """A stream whose work is done later."""

    def __init__(self) -> None:
        RECORDER.streams.append(self)  # an address names one stream only

    def synchronize(self) -> None:
        """Wait for all of it."""
        RECORDER.finish(self)


class Event:
    """A place in a stream."""

    def record(self, stream: Any = 0) -> None:
        """Here, for now."""
        self.stream = stream
        self.mark = RECORDER.put(stream, Work("an event", lambda: None))

    def synchronize(self) -> None:
        """Wait until the stream comes here."""
        if self.stream:
            RECORDER.finish(self.stream, self.mark)

    def elapsed_time(self, event: Event) -> float:
        """No time is measured."""
        return 1.0


class Pinned(np.ndarray):  # type: ignore[type-arg]
    """Memory of the host that copies read and write whenever they are done."""

    def __setitem__(self, key: Any, value: Any) -> None:
        RECORDER.host_writes(self)
        super().__setitem__(key, value)


def _poisoned(made: Any) -> Any:
    if made.dtype.kind in "fc":
        np.ndarray.fill(made, np.nan)
    return made


def _pinned_array(shape: Any, dtype: Any = np.float64, **_: Any) -> Any:
    return _poisoned(np.empty(shape, dtype)).view(Pinned)


def _device_array(shape: Any, dtype: Any = np.float64, stream: Any = 0, **_: Any) -> Any:
    return devicearray.FakeCUDAArray(_poisoned(np.empty(shape, dtype)))


def _to_device(ary: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    host = np.asarray(ary)
    device = devicearray.FakeCUDAArray(_poisoned(np.empty_like(host))) if to is None else to
    # pageable memory is read before the call returns
    pinned = isinstance(ary, Pinned)
    work = Work("a copy to the device", lambda: np.copyto(device._ary, host), [host], [device])
    if not pinned:
        RECORDER.finish(stream or None)
    RECORDER.put(stream if pinned else 0, work)
    return device


def _copy_to_host(self: Any, ary: Any = None, stream: Any = 0) -> Any:
    host = np.empty_like(self._ary) if ary is None else ary
    work = Work(
        "a copy to the host", lambda: np.copyto(np.asarray(host), self._ary), [self], [host]
    )
    RECORDER.put(stream, work)
    if ary is None:
        RECORDER.finish(stream or None)
    return host


@cache
def _stored(function: Any) -> set[str]:
    """The arrays that a kernel stores into."""
    tree = ast.parse(inspect.getsource(function))
    stores = (n for n in ast.walk(tree) if isinstance(n, ast.Subscript))
    return {ast.unparse(n.value) for n in stores if isinstance(n.ctx, ast.Store)}


def _call(self: Any, *args: Any) -> Any:
    if self._device or sim_kernel._get_kernel_context() is not None:
        return _PLAIN_CALL(self, *args)
    now = sim_kernel.FakeCUDAKernel(self.fn, device=False)
    now.grid_dim, now.block_dim = self.grid_dim, self.block_dim
    names = self.fn.__code__.co_varnames
    pairs = [(n, a) for n, a in zip(names, args, strict=False) if hasattr(a, "_ary")]
    stored = _stored(self.fn)
    RECORDER.put(
        self.stream,
        Work(
            f"`{self.fn.__name__}`", lambda: _PLAIN_CALL(now, *args),
            [a for _, a in pairs], [a for n, a in pairs if n in stored],
        ),
    )  # fmt: skip
    return None


def _configured(self: Any, configuration: Any) -> Any:
    self.grid_dim, self.block_dim = sim_kernel.normalize_kernel_dimensions(*configuration[:2])
    self.stream = configuration[2] if len(configuration) > 2 else 0
    return self


def install() -> None:
    """Put the recorder into Numba's simulator."""
    cuda.stream, cuda.event = Stream, Event
    cuda.default_stream = lambda: Stream()
    cuda.pinned_array, cuda.device_array, cuda.to_device = _pinned_array, _device_array, _to_device
    array: Any = devicearray.FakeCUDAArray
    array.copy_to_host = _copy_to_host
    kernel: Any = sim_kernel.FakeCUDAKernel
    kernel.__call__, kernel.__getitem__ = _call, _configured
