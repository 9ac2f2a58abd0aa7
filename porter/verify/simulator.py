"""Numba's simulator, made faster and stricter, with a record of every launch.

Only the simulator child imports this module: `NUMBA_ENABLE_CUDASIM` must be 1.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as sim_kernel
from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.cudadrv import devicearray

from porter.verify import writes
from porter.verify.device_math import DEVICE_MATH
from porter.verify.scheduler import Block, barriers

MAX_THREADS = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)


class LaunchError(ValueError):
    """A launch configuration that a GPU refuses."""


class TooCostly(Exception):
    """A launch would simulate more threads than the case may."""


class Launches:
    """Which kernels were launched with which argument types, each combination once."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[str, Any]] = {}
        self.barriers: set[str] = set()
        self.blocks: dict[tuple[str, str], int] = {}
        self.count = 0
        self.left = math.inf

    def clear(self) -> None:
        """Forget everything, for the next function."""
        self.__init__()  # type: ignore[misc]

    def allow(self, work: float) -> None:
        """How many threads may be simulated from now on; one with barriers counts as ten."""
        self.left = work

    def shape(self, kernel: Any) -> None:
        """Keep the largest block of a kernel, by the name of its version of the module."""
        key = kernel.fn.__globals__.get("__name__", ""), kernel.fn.__name__
        self.blocks[key] = max(math.prod(kernel.block_dim), self.blocks.get(key, 0))

    def spend(self, kernel: Any) -> None:
        """Count the threads of a launch that is to be simulated; raises `TooCostly`."""
        name = kernel.fn.__name__
        slow = barriers(kernel.fn)
        self.left -= math.prod([*kernel.grid_dim, *kernel.block_dim]) * (10 if slow else 1)
        if self.left < 0:
            raise TooCostly(f"`{name}` has too many threads for the simulator")

    def note(self, kernel: Any, args: tuple[Any, ...]) -> None:
        """Record one launch."""
        name = kernel.fn.__name__
        types = [argument_type(a) for a in args]
        self.count += 1
        self.seen.setdefault(f"{name} {types}", {"kernel": name, "types": types})
        if barriers(kernel.fn):
            self.barriers.add(name)


LAUNCHES = Launches()


def argument_type(value: Any) -> dict[str, Any]:
    """A launch argument's type as JSON data that the compiler's child understands."""
    array = getattr(value, "_ary", value)
    if isinstance(array, np.ndarray):
        layout = "A"
        if array.flags.c_contiguous:
            layout = "C"
        elif array.flags.f_contiguous:
            layout = "F"
        return {"array": str(array.dtype), "ndim": array.ndim, "layout": layout}
    if isinstance(value, tuple):
        return {"tuple": [argument_type(v) for v in value]}
    if value is None:
        return {"none": True}
    if isinstance(value, np.generic):
        return {"scalar": str(value.dtype)}
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return {"scalar": names.get(type(value), type(value).__name__)}


def poison(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Fill an array with what a result can hardly be: NaN, or a large odd number."""
    kind = array.dtype.kind
    if kind in "fc":
        array.fill(math.nan)
    elif kind in "iu":
        array.fill(np.iinfo(array.dtype).max - 12)
    elif kind == "b":
        array.view(np.uint8).fill(1)
        array.reshape(-1)[::2] = False
    return array


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
    from numba.np import numpy_support

    if isinstance(dtype, (type, np.dtype, str)):
        return np.dtype(dtype)
    return np.dtype(numpy_support.as_dtype(dtype))


def _local_array(self: Any, shape: Any, dtype: Any, alignment: Any = None) -> Any:
    return poison(np.empty(shape, _dtype(dtype)))


def _device_array(*args: Any, **kwargs: Any) -> Any:
    made = _PLAIN_DEVICE_ARRAY(*args, **kwargs)
    poison(made._ary)
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
    _check(self)
    LAUNCHES.shape(self)
    typed = tuple(map(_scalar, args))
    if EMULATED[-1] is not None and EMULATED[-1](self, typed):
        LAUNCHES.note(self, args)
        return None
    LAUNCHES.spend(self)
    LAUNCHES.note(self, args)
    args = typed
    _ACTIVE.append(self.fn.__globals__)
    try:
        with _device_math(self.fn.__globals__):
            return _PLAIN_CALL(self, *args)
    finally:
        _ACTIVE.pop()


def _scalar(value: Any) -> Any:
    """A Python number as the compiler types it: it divides by zero and overflows alike."""
    made: Any = _SCALARS.get(type(value))
    try:
        return made(value) if made else value
    except OverflowError as error:
        raise LaunchError(f"{value} does not fit a kernel's integer argument") from error


_SCALARS = {int: np.int64, float: np.float64, complex: np.complex128}


def _check(kernel: Any) -> None:
    if kernel.grid_dim is None or kernel.block_dim is None:
        raise LaunchError(f"`{kernel.fn.__name__}` is launched without a grid and a block")
    grid, block = tuple(kernel.grid_dim), tuple(kernel.block_dim)
    name = kernel.fn.__name__
    if any(n < 1 for n in grid + block):
        raise LaunchError(f"`{name}` is launched with an empty grid {grid} or block {block}")
    if math.prod(block) > MAX_THREADS or block[2] > 64:
        raise LaunchError(f"`{name}` is launched with a block {block} of over 1024 threads")
    if any(n > limit for n, limit in zip(grid, MAX_GRID, strict=True)):
        raise LaunchError(f"`{name}` is launched with a grid {grid} past the limits {MAX_GRID}")


@contextmanager
def _device_math(namespace: dict[str, Any]) -> Iterator[None]:
    """Let a module's names for `math` and its functions mean the device's."""
    replaced = {}
    for name, value in namespace.items():
        if value is math:
            replaced[name] = DEVICE_MATH
        elif getattr(value, "__module__", "") == "math" and callable(value):
            replaced[name] = getattr(DEVICE_MATH, value.__name__)
    before = {name: namespace[name] for name in replaced}
    namespace.update(replaced)
    try:
        yield
    finally:
        namespace.update(before)


@contextmanager
def poisoned_host() -> Iterator[None]:
    """Let `np.empty` and `np.empty_like` give poisoned arrays, as an allocation may."""

    def filled(plain: Callable[..., Any]) -> Callable[..., Any]:
        def empty(*args: Any, **kwargs: Any) -> Any:
            made = plain(*args, **kwargs)
            return poison(made) if made.dtype.kind in "fciub" else made

        return empty

    # set by name: they are Final as far as mypy is concerned
    plain = {name: getattr(np, name) for name in ("empty", "empty_like")}
    for name, function in plain.items():
        setattr(np, name, filled(function))
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(np, name, function)


def install() -> None:
    """Put the verifier's parts into Numba's simulator."""
    # what the simulator still does with operating-system threads, do quickly
    sys.setswitchinterval(5e-5)
    writes.install()
    sim_kernel.BlockManager = Block
    sim_kernel.FakeCUDAKernel.__call__ = _call
    kernelapi.FakeCUDAShared = _Shared
    kernelapi.FakeCUDALocal.array = _local_array
    devicearray.device_array = _device_array
    cuda.device_array = _device_array
