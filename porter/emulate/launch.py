"""A launch on the emulator: all blocks of a grid, in an order that a seed decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porter.emulate.blocks import Block, run_blocks
from porter.emulate.device import context as ctx
from porter.emulate.device.arrays import ARENA_FULL
from porter.emulate.errors import LaunchError, OutOfBounds, RaceError, Stopped
from porter.emulate.program import Program, program
from porter.emulate.races import DID, NOTED, RACE, Shadow
from porter.emulate.source.entries import cells
from porter.emulate.source.helpers import PLAIN
from porter.emulate.source.scope import python_function
from porter.emulate.source.sites import SITES

#: bytes of shared memory that a block may have on the GPUs that exist
MOST_SHARED = 232_448
#: how many orders of a block's threads a launch goes through
_ORDERS = 8


@dataclass
class Totals:
    """What the launches of a process came to; seconds are the processor's, not the wall's."""

    launches: int = 0
    threads: int = 0
    largest: int = 0
    run_seconds: float = 0.0
    compile_seconds: float = 0.0


TOTALS = Totals()


def points(dims: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """All places of a block or grid as rows (x, y, z, number), x running fastest."""
    x, y, z = dims
    numbers = np.arange(x * y * z, dtype=np.int64)
    return np.stack([numbers % x, numbers // x % y, numbers // (x * y), numbers], axis=1)


def three(dims: Any) -> tuple[int, int, int]:
    """A grid or block size with all its axes."""
    given = (dims,) if isinstance(dims, int | np.integer) else tuple(dims)
    x, y, z = (*(int(n) for n in given), 1, 1, 1)[:3]
    return x, y, z


def launch(
    function: Callable[..., Any],
    grid: Any,
    block: Any,
    args: tuple[Any, ...],
    *,
    dynamic: int = 0,
    seed: int | None = 0,
    races: bool = False,
) -> None:
    """Run a kernel, or its Python function, over a grid; `args` are NumPy arrays and numbers.

    With `seed` None blocks and threads run in their own order, else in one that it decides.
    With `races`, every access is noted (see `porter.emulate.races`), which takes longer.
    Raises `Unsupported` before anything has run, and `OutOfBounds`, `BarrierError` or `RaceError`.
    """
    kernel = program(python_function(function) or function, NOTED if races else PLAIN)
    args = tuple(map(_as_typed, args))
    before = kernel.compile_seconds
    kernel.runner(args)
    TOTALS.compile_seconds += kernel.compile_seconds - before
    started = time.process_time()
    work = _Launch(kernel, three(grid), three(block), args, dynamic, seed)
    try:
        work.run()
    finally:
        TOTALS.run_seconds += time.process_time() - started
        TOTALS.launches += 1
        count = len(work.blocks) * len(work.threads)
        TOTALS.threads += count
        TOTALS.largest = max(TOTALS.largest, count)


def _as_typed(value: Any) -> Any:
    """Python numbers as a launch types them: int64, float64."""
    if isinstance(value, bool):
        return np.bool_(value)
    return value


class _Launch:
    def __init__(
        self,
        kernel: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: tuple[Any, ...],
        dynamic: int,
        seed: int | None,
    ) -> None:
        self.kernel, self.args, self.dynamic = kernel, args, dynamic
        self.random = None if seed is None else np.random.default_rng(seed)
        self.blocks = self._shuffled(points(grid))
        self.threads = points(block)
        every = np.arange(len(self.threads))
        self.orders = np.stack([self._shuffled(every) for _ in range(_ORDERS)])
        self.barriers = np.array([s.what == "syncthreads" for s in SITES], np.bool_)
        self.grid_dim, self.block_dim = ctx.Dim3(*grid), ctx.Dim3(*block)
        self.report = np.zeros(ctx.REPORT_FIELDS, np.int64)
        self.runner = kernel.runner(args)
        self.arguments = np.array(cells(args), np.int64)

    def _shuffled(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return rows if self.random is None else self.random.permutation(rows)

    def run(self) -> None:
        try:
            if self.kernel.pauses:
                run_blocks(self)
            else:
                self._straight()
        except Stopped:
            raise self._said() from None
        except ZeroDivisionError as error:
            # Numba's division of complex numbers raises on a GPU too, where nobody hears of it
            name = self.kernel.function.__name__
            text = f"{error} in `{name}`: on a GPU the thread ends there and stores nothing"
            raise ZeroDivisionError(text) from None

    def _straight(self) -> None:
        memory = Block(self, self._shuffled(self.threads))
        self.watch([memory])
        memory.enter(self.blocks)

    def watch(self, blocks: list[Block]) -> None:
        """Make the shadow memory of a launch whose accesses are noted."""
        if self.kernel.names is NOTED:
            arrays = [a for a in self.args if isinstance(a, np.ndarray)]
            fences = self.kernel.fences
            self.shadow = Shadow(arrays, [b.arena for b in blocks], fences=fences)
            self.report[ctx.SHADOW] = self.shadow.control.ctypes.data

    def _said(self) -> Exception:
        report = [int(n) for n in self.report]
        site = SITES[report[ctx.SITE]]
        axis, index, size = report[ctx.AXIS], report[ctx.INDEX], report[ctx.SIZE]
        if axis == ARENA_FULL:
            return LaunchError(f"`{site.function}` needs {index} bytes of shared memory a block")
        if axis == RACE:
            return self._raced(report)
        thread = place(self.block_dim, report[ctx.THREAD_AT])
        block = place(self.grid_dim, report[ctx.BLOCK_AT])
        return OutOfBounds(
            f"index {index} is out of bounds for axis {axis} of `{site.what}`, which has size"
            f" {size}, at line {site.line} of `{site.function}`"
            f" (thread {thread} of block {block})"
        )

    def _raced(self, report: list[int]) -> RaceError:
        one, other = SITES[report[ctx.SITE]], SITES[report[ctx.OTHER_SITE]]
        thread = place(self.block_dim, report[ctx.OTHER_THREAD])
        block = place(self.grid_dim, report[ctx.OTHER_BLOCK])
        mine = place(self.block_dim, report[ctx.THREAD_AT])
        here = place(self.grid_dim, report[ctx.BLOCK_AT])
        named = f"`{other.what}`" + ("" if one.what == other.what else f" (here `{one.what}`)")
        if report[ctx.SIZE] >= 0:
            named = f"element {report[ctx.SIZE]} of {named}"
        did, does = DID[report[ctx.OTHER_KIND]], DID[report[ctx.INDEX]]
        return RaceError(
            f"race on {named}: thread {thread} of block {block} {did} it at line {other.line} of"
            f" `{other.function}`, thread {mine} of block {here} {does} it at line {one.line} of"
            f" `{one.function}`, and nothing orders the two accesses"
        )


def place(dims: Any, number: int) -> tuple[int, int, int]:
    """Where in a block or grid a number is, x running fastest."""
    x, y = int(dims.x), int(dims.y)
    return number % x, number // x % y, number // (x * y)
