"""A launch on the emulator: all blocks of a grid, in an order that a seed decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porter.emulate.blocks import run_blocks, run_straight
from porter.emulate.device import context as ctx
from porter.emulate.device.arrays import ARENA_FULL
from porter.emulate.errors import LaunchError, OutOfBounds, RaceError, Stopped
from porter.emulate.program import program
from porter.emulate.races import DID, NOTED, RACE
from porter.emulate.source.helpers import PLAIN
from porter.emulate.source.scope import python_function
from porter.emulate.source.sites import SITES
from porter.emulate.work import Work


@dataclass
class Totals:
    """What the launches of a process came to; seconds are the processor's, not the wall's."""

    launches: int = 0
    threads: int = 0
    largest: int = 0
    run_seconds: float = 0.0
    compile_seconds: float = 0.0


TOTALS = Totals()


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
    work = Work(kernel, three(grid), three(block), args, dynamic, seed)
    try:
        _run(work)
    finally:
        TOTALS.run_seconds += time.process_time() - started
        TOTALS.launches += 1
        count = len(work.order.blocks) * len(work.order.threads)
        TOTALS.threads += count
        TOTALS.largest = max(TOTALS.largest, count)


def _as_typed(value: Any) -> Any:
    """Python numbers as a launch types them: int64, float64."""
    if isinstance(value, bool):
        return np.bool_(value)
    return value


def _run(work: Work) -> None:
    try:
        if work.kernel.traits.pauses:
            run_blocks(work)
        else:
            run_straight(work)
    except Stopped:
        raise _stopped(work) from None
    except ZeroDivisionError as error:
        # Numba's division of complex numbers raises on a GPU too, where nobody hears of it
        name = work.kernel.function.__name__
        text = f"{error} in `{name}`: on a GPU the thread ends there and stores nothing"
        raise ZeroDivisionError(text) from None


def _stopped(work: Work) -> Exception:
    report = [int(n) for n in work.report]
    site = SITES[report[ctx.SITE]]
    axis, index, size = report[ctx.AXIS], report[ctx.INDEX], report[ctx.SIZE]
    if axis == ARENA_FULL:
        return LaunchError(f"`{site.function}` needs {index} bytes of shared memory a block")
    if axis == RACE:
        return _raced(work, report)
    thread = place(work.order.block_dim, report[ctx.THREAD_AT])
    block = place(work.order.grid_dim, report[ctx.BLOCK_AT])
    return OutOfBounds(
        f"index {index} is out of bounds for axis {axis} of `{site.what}`, which has size"
        f" {size}, at line {site.line} of `{site.function}`"
        f" (thread {thread} of block {block})",
        index == size == 0,
    )


def _raced(work: Work, report: list[int]) -> RaceError:
    one, other = SITES[report[ctx.SITE]], SITES[report[ctx.OTHER_SITE]]
    thread = place(work.order.block_dim, report[ctx.OTHER_THREAD])
    block = place(work.order.grid_dim, report[ctx.OTHER_BLOCK])
    mine = place(work.order.block_dim, report[ctx.THREAD_AT])
    here = place(work.order.grid_dim, report[ctx.BLOCK_AT])
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
