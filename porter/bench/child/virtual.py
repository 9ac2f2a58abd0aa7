"""Arrays of any size that take memory only where they are touched."""

from __future__ import annotations

import math
import mmap
import sys
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: what a GPU's allocations are aligned to
_ALIGNED = 256
#: bytes from which memory is mapped
_LARGE = 1 << 20
#: Linux's flag for memory that is not counted before it is touched
_NORESERVE = 0x4000 if sys.platform == "linux" else 0


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any], order: Any = "C") -> Array:
    """An array of zeros, aligned as a GPU's are."""
    count = math.prod(shape)
    size = count * dtype.itemsize
    if size >= _LARGE and hasattr(mmap, "MAP_PRIVATE"):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
        memory: Any = np.frombuffer(mmap.mmap(-1, size, flags), np.uint8)
    else:
        memory = np.zeros(size + _ALIGNED, np.uint8)
        first = -memory.ctypes.data % _ALIGNED
        memory = memory[first : first + size]
    return np.ndarray(shape, dtype, memory, order=order)


def aligned(values: Array) -> Array:
    """A copy of an array in memory of its own."""
    made = zeros(values.shape, values.dtype)
    made[...] = values
    return made


def stretched(values: Array, shape: tuple[int, ...]) -> Array:
    """A larger array that has values at its start, in its middle and at its end, else zeros."""
    made = zeros(shape, values.dtype)
    flat, given = made.reshape(-1), values.reshape(-1)
    if given.size:
        for first in (0, (flat.size - given.size) // 2, flat.size - given.size):
            flat[first : first + given.size] = given
    return made
