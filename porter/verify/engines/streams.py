"""Which stream everything that a call does was put on: its launches, copies and allocations.

Work on another stream than the given one runs when it likes: results are read before they are
there, and arrays that an earlier call left on another stream may still be in use.  The simulator
does everything at once, so it is noted here.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
#: what `forall` often chooses on a GPU; the simulator's own blocks have one thread each
THREADS = 256


class Streams:
    """What one call may use: the stream that it was given, and those that it makes itself."""

    def __init__(self) -> None:
        self.allowed: list[Any] | None = None
        self.complaint = ""
        self.inside = False
        #: the stream of what calls allocated, by the memory's identity
        self.owners: dict[int, tuple[weakref.ref[Array], Any]] = {}

    @contextmanager
    def expected(self, stream: Any) -> Iterator[None]:
        """Watch a call with a stream; None: a call without one is not watched."""
        self.complaint = ""
        self.allowed, self.inside = None if stream is None else [stream], True
        try:
            yield
        finally:
            self.allowed, self.inside = None, False

    def used(self, what: str, stream: Any) -> None:
        """Note one launch, copy or allocation."""
        if self.allowed is None or self.complaint:
            return
        if not any(stream is known for known in self.allowed):
            where = "another stream" if stream else "stream 0"
            self.complaint = f"{what} on {where}, not on the stream that was passed"

    def allocated(self, array: Array, stream: Any) -> None:
        """Note the memory that a call makes on the device."""
        if self.inside:
            memory = _memory(array)
            self.owners[id(memory)] = weakref.ref(memory, self._forget(id(memory))), stream

    def _forget(self, key: int) -> Callable[[object], object]:
        return lambda _: self.owners.pop(key, None)

    def launched(self, kernel: str, stream: Any, args: tuple[Any, ...]) -> None:
        """Note a launch: nothing orders it after what another stream does with its arrays."""
        self.used(f"launches `{kernel}`", stream)
        if self.allowed is None or self.complaint:
            return
        for array in (a._ary for a in args if hasattr(a, "_ary")):
            memory, owner = self.owners.get(id(_memory(array)), (None, None))
            if memory is not None and not any(owner is known for known in self.allowed):
                self.complaint = (
                    f"launches `{kernel}` with an array that an earlier call made on another stream"
                )

    def made(self, stream: Any) -> None:
        """Note a stream that the call makes for itself."""
        if self.allowed is not None:
            self.allowed.append(stream)


def _memory(array: Array) -> Array:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


STREAMS = Streams()


def install() -> None:
    """Let Numba's simulator note the streams of what it does."""
    # on a GPU there is no simulator
    from numba import cuda
    from numba.cuda.simulator import api, kernel
    from numba.cuda.simulator.cudadrv import devicearray

    base: Any = api.stream

    class Stream(base):  # type: ignore[misc]
        """A stream that notes that it was made."""

        def __init__(self) -> None:
            STREAMS.made(self)

    cuda.stream = Stream
    cuda.to_device = devicearray.to_device = _to_device(devicearray.to_device)
    cuda.device_array_like = _like(cuda.device_array)
    array: Any = devicearray.FakeCUDAArray
    array.copy_to_host = _to_host(array.copy_to_host)
    array.copy_to_device = _onto(array.copy_to_device)
    launched: Any = kernel.FakeCUDAKernel
    launched.__getitem__ = _configured(launched.__getitem__)
    launched.forall = _for_all


def _to_device(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def to_device(ary: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
        STREAMS.used("copies to the device", stream)
        made = plain(ary, stream, copy) if to is None else plain(ary, stream, copy, to)
        if made is not None:
            # later copies of the array are made on its stream, if they name none
            made.stream = stream
            if to is None:
                STREAMS.allocated(made._ary, stream)
        return made

    return to_device


def _like(plain: Callable[..., Any]) -> Callable[..., Any]:
    def device_array_like(ary: Any, stream: Any = 0) -> Any:
        order = "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
        return plain(tuple(ary.shape), ary.dtype, order=order, stream=stream)

    return device_array_like


def _to_host(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def copy_to_host(self: Any, ary: Any = None, stream: Any = 0) -> Any:
        STREAMS.used("copies to the host", stream or self.stream)
        return plain(self, ary, stream)

    return copy_to_host


def _onto(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def copy_to_device(self: Any, ary: Any, stream: Any = 0) -> None:
        STREAMS.used("copies on the device", stream or self.stream)
        plain(self, ary, stream)

    return copy_to_device


def _for_all(self: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Any:
    """Blocks of a usual size, the last of which has threads too many, as on a GPU."""
    threads = tpb or THREADS
    if ntasks == 0:
        return lambda *_: None
    return self[-(-ntasks // threads), threads, stream, sharedmem]


def _configured(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def configured(self: Any, configuration: Any) -> Any:
        made = plain(self, configuration)
        made.stream = configuration[2] if len(configuration) > 2 else 0
        return made

    return configured
