"""What a launch works on: its kernel and arguments, the order of its threads, its report."""

from __future__ import annotations

from typing import Any

import numpy as np

from porter.emulate.device import context as ctx
from porter.emulate.program import Program
from porter.emulate.races import NOTED, Shadow
from porter.emulate.source.entries import cells
from porter.emulate.source.sites import SITES

Ints = np.ndarray[Any, np.dtype[np.int64]]

#: bytes of shared memory that a block may have on the GPUs that exist
MOST_SHARED = 232_448
#: how many orders of a block's threads a launch goes through
_ORDERS = 8


def points(dims: tuple[int, ...]) -> Ints:
    """All places of a block or grid as rows (x, y, z, number), x running fastest."""
    x, y, z = dims
    numbers = np.arange(x * y * z, dtype=np.int64)
    return np.stack([numbers % x, numbers // x % y, numbers // (x * y), numbers], axis=1)


class Order:
    """The blocks and threads of a grid, shuffled by a seed; with None they keep their order."""

    def __init__(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], seed: int | None
    ) -> None:
        self.grid_dim, self.block_dim = ctx.Dim3(*grid), ctx.Dim3(*block)
        self.random = None if seed is None else np.random.default_rng(seed)
        self.blocks = self.shuffled(points(grid))
        self.threads = points(block)
        every = np.arange(len(self.threads))
        self.rounds = np.stack([self.shuffled(every) for _ in range(_ORDERS)])

    def shuffled(self, rows: Ints) -> Ints:
        """The rows in another order, if there is a seed."""
        return rows if self.random is None else self.random.permutation(rows)


class Work:
    """One launch: what its blocks share."""

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
        self.order = Order(grid, block, seed)
        self.barriers = np.array([s.what == "syncthreads" for s in SITES], np.bool_)
        self.report = np.zeros(ctx.REPORT_FIELDS, np.int64)
        self.runner = kernel.runner(args)
        self.arguments = np.array(cells(args), np.int64)

    def watch(self, arenas: list[np.ndarray[Any, Any]]) -> None:
        """Make the shadow memory of a launch whose accesses are noted."""
        if self.kernel.names is NOTED:
            arrays = [a for a in self.args if isinstance(a, np.ndarray)]
            self.shadow = Shadow(arrays, arenas, fences=self.kernel.traits.fences)
            self.report[ctx.SHADOW] = self.shadow.control.ctypes.data
