"""Numba's simulator, made faster and stricter, with a record of every launch.

Only the simulator child imports this module: `NUMBA_ENABLE_CUDASIM` must be 1.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as sim_kernel
from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.cudadrv import devicearray, devices
from numba.np import numpy_support

from porter.verify.engines import streams, strict_arrays, writes
from porter.verify.engines.device_math import DEVICE_MODULES
from porter.verify.engines.launches import LAUNCHES, LaunchError, check, poison
from porter.verify.engines.scheduler import Block, barriers
from porter.verify.engines.streams import STREAMS


class _Shared:
    """Shared memory that starts poisoned; two arrays on one line are two arrays."""

    def __init__(self, dynshared_size: int) -> None:
        self._allocations: dict[Any, np.ndarray[Any, Any]] = {}
        self._size = dynshared_size

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> np.ndarray[Any, Any]:
        frame = sys._getframe(1)
        dynamic = shape == 0
        key = "dynamic" if dynamic else (frame.f_code, frame.f_lasti)
        if key not in self._allocations:
            if dynamic:
                self._allocations[key] = np.zeros(self._size, dtype=np.byte)
            else:
                self._allocations[key] = poison(np.empty(shape, _dtype(dtype)))
        found = self._allocations[key]
        if dynamic:
            size = _dtype(dtype).itemsize
            return found[: self._size // size * size].view(_dtype(dtype))
        return found


def _dtype(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, (type, np.dtype, str)):
        return np.dtype(dtype)
    return np.dtype(numpy_support.as_dtype(dtype))


def _local_array(self: Any, shape: Any, dtype: Any, alignment: Any = None) -> Any:
    return poison(np.empty(shape, _dtype(dtype)))


def _device_array(*args: Any, **kwargs: Any) -> Any:
    STREAMS.used("allocates", kwargs.get("stream", 0))
    made = _PLAIN_DEVICE_ARRAY(*args, **kwargs)
    poison(made._ary)
    STREAMS.allocated(made._ary, kwargs.get("stream", 0))
    return made


_PLAIN_DEVICE_ARRAY = devicearray.device_array
_PLAIN_CALL = sim_kernel.FakeCUDAKernel.__call__
#: the globals of the module whose kernel runs
_ACTIVE: list[dict[str, Any] | None] = [None]
#: what is asked first to run a launch; it says whether it did
EMULATED: list[Callable[[Any, tuple[Any, ...]], bool] | None] = [None]


def _call(self: Any, *args: Any) -> Any:
    """A kernel launch: checked, recorded, and run with the device's `math`."""
    if self._device or sim_kernel._get_kernel_context() is not None:
        # in the kernel's own module `cuda` is swapped already: the plain way takes locks
        if self.fn.__globals__ is _ACTIVE[-1]:
            return self.fn(*args)
        return _PLAIN_CALL(self, *args)
    check(self.fn.__name__, _shape(self.grid_dim), _shape(self.block_dim))
    LAUNCHES.shape(self.fn, self.block_dim)
    STREAMS.launched(self.fn.__name__, self.stream, args)
    typed = tuple(map(_scalar, args))
    if EMULATED[-1] is not None and EMULATED[-1](self, typed):
        LAUNCHES.note(self.fn, args)
        return None
    # a thread with barriers costs ten times as much
    threads = math.prod([*self.grid_dim, *self.block_dim])
    LAUNCHES.spend(self.fn.__name__, threads * (10 if barriers(self.fn) else 1))
    LAUNCHES.note(self.fn, args)
    args = typed
    _ACTIVE.append(self.fn.__globals__)
    try:
        with _device_math(self.fn.__globals__):
            return _PLAIN_CALL(self, *args)
    finally:
        _ACTIVE.pop()


def _shape(size: Any) -> tuple[int, ...] | None:
    return None if size is None else tuple(size)


def _scalar(value: Any) -> Any:
    """A Python number as the compiler types it: it divides by zero and overflows alike."""
    made: Any = _SCALARS.get(type(value))
    try:
        return made(value) if made else value
    except OverflowError as error:
        raise LaunchError(f"{value} does not fit a kernel's integer argument") from error


_SCALARS = {int: np.int64, float: np.float64, complex: np.complex128}


@contextmanager
def _device_math(namespace: dict[str, Any]) -> Iterator[None]:
    """Let a module's names for `math`, `cmath` and their functions mean the device's."""
    replaced = {}
    for name, value in namespace.items():
        if value is math or value is cmath:
            replaced[name] = DEVICE_MODULES[value.__name__]
        elif callable(value) and getattr(value, "__module__", "") in DEVICE_MODULES:
            replaced[name] = getattr(DEVICE_MODULES[value.__module__], value.__name__)
    before = {name: namespace[name] for name in replaced}
    namespace.update(replaced)
    try:
        yield
    finally:
        namespace.update(before)


@cache
def install() -> None:
    """Put the verifier's parts into Numba's simulator."""
    # what the simulator still does with operating-system threads, do quickly
    sys.setswitchinterval(5e-5)
    writes.install()
    strict_arrays.install()
    sim_kernel.BlockManager = Block
    sim_kernel.FakeCUDAKernel.__call__ = _call
    kernelapi.FakeCUDAShared = _Shared
    kernelapi.FakeCUDALocal.array = _local_array
    # as on a GPU, the same one each time, which cannot be hashed: arrays are kept by it
    context = devices.get_context()
    type(context).__hash__ = None  # type: ignore[assignment]
    cuda.current_context = lambda devnum=None: context
    devicearray.device_array = _device_array
    cuda.device_array = _device_array
    streams.install()
