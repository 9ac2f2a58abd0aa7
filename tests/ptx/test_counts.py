"""Sectors and bank conflicts of small kernels, counted by hand.

Blocks have 64 threads, two warps.  Of float32, 32 neighbours are 4 sectors of 32 bytes, of float64
8.  Every kernel stores what it loads with unit stride: 4 sectors for each warp, or 8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numba import cuda

from porter.ptx.machine.counts import WARP, Counts
from tests.support.machine import compiler, kernel

pytestmark = pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
THREADS = 64


def array(count: int, dtype: str) -> np.ndarray[Any, Any]:
    """An array at the start of a sector."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(count * size + 128, np.uint8)
    first = -memory.ctypes.data % 128
    return memory[first : first + count * size].view(dtype)


def unit(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


def stride_two(x, out):
    i = cuda.grid(1)
    out[i] = x[2 * i]


def stride_32(x, out):
    i = cuda.grid(1)
    out[i] = x[32 * i]


def transposed(x, out):
    i = cuda.grid(1)
    out[i] = x[(i % 32) * 64 + i // 32]


def broadcast(x, out):
    i = cuda.grid(1)
    out[i] = x[0]


def misaligned(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def tail(x, out):
    i = cuda.grid(1)
    if i < 48:
        out[i] = x[i]


def reversed_(x, out):
    i = cuda.grid(1)
    out[i] = x[63 - i]


def pairs(x, out):
    i = cuda.grid(1)
    out[i] = x[i // 2]


#: kernel, dtype: sectors of the loads of both warps and the fewest, then of the stores
GLOBAL: list[tuple[Callable[..., None], str, tuple[int, int, int]]] = [
    (unit, "float32", (2 * 4, 2 * 4, 2 * 4)),
    (unit, "float64", (2 * 8, 2 * 8, 2 * 8)),
    (unit, "int8", (2 * 1, 2 * 1, 2 * 1)),
    (stride_two, "float32", (2 * 8, 2 * 4, 2 * 4)),
    (stride_two, "float64", (2 * 16, 2 * 8, 2 * 8)),
    (stride_32, "float32", (2 * 32, 2 * 4, 2 * 4)),
    (transposed, "float32", (2 * 32, 2 * 4, 2 * 4)),
    (broadcast, "float32", (2 * 1, 2 * 1, 2 * 4)),
    # 128 bytes that begin 4 bytes after the start of a sector, or 8
    (misaligned, "float32", (2 * 5, 2 * 4, 2 * 4)),
    (misaligned, "float64", (2 * 9, 2 * 8, 2 * 8)),
    # the second warp has 16 lanes
    (tail, "float32", (4 + 2, 4 + 2, 4 + 2)),
    (reversed_, "float32", (2 * 4, 2 * 4, 2 * 4)),
    # 16 different elements for a warp
    (pairs, "float32", (2 * 2, 2 * 2, 2 * 4)),
]


@pytest.mark.parametrize(("function", "dtype", "expected"), GLOBAL, ids=lambda v: getattr(
    v, "__name__", v if isinstance(v, str) else ""))  # fmt: skip
def test_sectors_of_arrays(
    function: Callable[..., None], dtype: str, expected: tuple[int, int, int]
) -> None:
    made = kernel(function)
    made.counts = Counts()
    made[1, THREADS](array(32 * THREADS, dtype), array(THREADS, dtype))
    loads, fewest, stores = expected
    assert made.counts.requests == 4
    assert made.counts.sectors == loads + stores
    assert made.counts.ideal == fewest + stores


def shared(size: int, dtype: Any, place: Callable[[Any], Any]) -> Callable[..., None]:
    """A kernel whose threads store to `place(i)` of shared memory."""
    there = cuda.jit(device=True)(place)

    def stored(x, out):
        held = cuda.shared.array(size, dtype)
        i = cuda.threadIdx.x
        held[there(i)] = x[i]
        cuda.syncthreads()
        if i == 0:
            out[0] = held[out.size]

    return stored


F4, F8 = numba.float32, numba.float64
#: elements, type, place of a thread: passes beyond the first of both warps' stores
SHARED: dict[str, tuple[int, Any, Callable[[Any], Any], int]] = {
    "unit stride": (64, F4, lambda i: i, 0),
    "stride 2": (128, F4, lambda i: 2 * i, 2 * 1),
    "stride 32": (2048, F4, lambda i: 32 * i, 2 * 31),
    # a column of a tile of 32 x 32, and of one with a column more
    "unpadded tile": (1024, F4, lambda i: i % 32 * 32 + i // 32, 2 * 31),
    "padded tile": (1056, F4, lambda i: i % 32 * 33 + i // 32, 0),
    # all lanes of a warp in one word
    "broadcast": (64, F4, lambda i: i // 32, 0),
    "reversed": (64, F4, lambda i: 63 - i, 0),
    # 8 bytes: each half of a warp is served on its own
    "float64": (64, F8, lambda i: i, 0),
    "float64, stride 2": (128, F8, lambda i: 2 * i, 2 * 2 * 1),
    "float64, unpadded tile": (256, F8, lambda i: i % 16 * 16 + i // 16, 2 * 2 * 15),
    "float64, padded tile": (272, F8, lambda i: i % 16 * 17 + i // 16, 0),
}


@pytest.mark.parametrize("name", SHARED)
def test_conflicts_of_banks(name: str) -> None:
    size, dtype, place, conflicts = SHARED[name]
    made = kernel(shared(size, dtype, place))
    made.counts = Counts()
    made[1, THREADS](array(THREADS, str(dtype)), array(8, str(dtype)))
    # the stores of two warps, and one thread's load
    assert made.counts.shared_requests == 3
    assert made.counts.conflicts == conflicts
    assert made.counts.barriers == 1


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_a_pattern_that_is_met_again_has_as_many_conflicts(size: int) -> None:
    """Some words further on it has other banks, and as many of them."""
    rng = np.random.default_rng(0)
    lanes = np.arange(64) % WARP
    warps = np.arange(64) // WARP
    for _ in range(20):
        offsets = rng.integers(0, 60, 64) * size
        known = Counts()
        for shift in (0, 1, 5, 32, 33):
            moved = offsets + max(size, 4) * shift
            fresh = Counts()
            fresh.shared(size, moved, warps, lanes)
            before = known.shared_requests, known.conflicts
            known.shared(size, moved, warps, lanes)
            found = known.shared_requests - before[0], known.conflicts - before[1]
            assert found == (fresh.shared_requests, fresh.conflicts)
        assert len(known.patterns) == 1
