"""A launch: all blocks of a grid, some at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.errors import Unsupported
from porter.ptx.machine.arguments import Layout, flattened
from porter.ptx.machine.counts import WARP, Counts
from porter.ptx.machine.memory import Memory
from porter.ptx.machine.schedule import Scheduler
from porter.ptx.machine.task import Code, Task, Work
from porter.ptx.machine.wave import Wave

#: threads that run together: a vector of them fits the cache of a core
TOGETHER = 8192
#: instructions of all threads that a launch may take unless it is told otherwise
MOST = 10**12


def launch(
    code: Code,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: Sequence[Any],
    *,
    names: Sequence[str] = (),
    dynamic: int = 0,
    seed: int | None = None,
    counts: Counts | None = None,
    work: Work | None = None,
    layout: Layout = "numba",
    blocks: Sequence[int] | None = None,
) -> int:
    """Run a kernel over a grid; `args` are NumPy arrays and numbers, `names` what errors call them.

    With a `seed` the warps of a block run one after another between barriers, in an order that it
    decides; else all together.  `blocks` picks some of the grid.  `work` is what the launch may
    take.  Returns the instructions of all threads.  Raises a `MachineError`.
    """
    program = code.program
    body = program.body
    values, arrays = flattened(args, names, layout)
    variables = {
        v.name: _initial(v.initial, v.size) for v in body.variables.values() if v.space != "local"
    }
    # a variable's memory is that of an array of its name
    shown = [(n, a) for n, a in variables.items() if body.variables[n].space in ("global", "const")]
    memory = Memory([*arrays, *shown])
    warps = -(-int(np.prod(block)) // WARP)
    order = None if seed is None or warps == 1 else tuple(_shuffled(warps, seed))
    task = Task(
        code,
        grid,
        block,
        _packed(values, code),
        memory,
        variables,
        dynamic,
        counts,
        order,
        work or Work(MOST),
    )
    every = np.arange(int(np.prod(grid))) if blocks is None else np.array(blocks)
    each = max(1, TOGETHER // task.threads)
    taken = 0
    with np.errstate(all="ignore"):
        for first in range(0, len(every), each):
            taken += Scheduler(Wave(task, every[first : first + each])).run()
    return taken


def _shuffled(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _initial(initial: bytes | None, size: int) -> Array:
    """The memory of a variable, aligned to 16 bytes."""
    memory = np.zeros(size + 16, np.uint8)
    first = -memory.ctypes.data % 16
    found = memory[first : first + size]
    if initial:
        found[:] = np.frombuffer(initial, np.uint8)
    return found


def _packed(values: list[np.generic], code: Code) -> bytes:
    """The parameters' bytes, at the offsets that the kernel declares."""
    places, parameters = code.program.places, code.program.body.parameters
    if len(values) != len(parameters) or any(
        v.itemsize != p.size for v, p in zip(values, parameters, strict=True)
    ):
        given = ", ".join(str(v.dtype) for v in values)
        wanted = ", ".join(f".{p.type}" for p in parameters)
        raise Unsupported(f"parameters {wanted} for arguments {given}", 1)
    found = bytearray(places.parameter_size)
    for value, parameter in zip(values, parameters, strict=True):
        at = places.parameters[parameter.name]
        found[at : at + parameter.size] = value.tobytes()
    return bytes(found)
