"""Blocks of a kernel with barriers: threads run from wait to wait, in a random order."""

from __future__ import annotations

import numpy as np

from porter.emulate.device import context as ctx
from porter.emulate.device import warps
from porter.emulate.errors import BarrierError
from porter.emulate.source.entries import enter
from porter.emulate.source.sites import BARRIER, GRID, SITES, WARP
from porter.emulate.source.threads import ENDED, advance
from porter.emulate.work import MOST_SHARED, Ints, Work


class Block:
    """The memory of one block: its threads' states, their exchange, and shared arrays."""

    def __init__(self, work: Work, threads: Ints) -> None:
        self.work = work
        count = len(threads)
        arena = MOST_SHARED + work.dynamic if work.kernel.traits.shared else 16
        self.arena = np.zeros(arena, np.uint8)
        self.table = np.zeros(ctx.FIRST_SHARED + len(SITES), np.int64)
        self.table[ctx.ARENA] = self.arena.ctypes.data
        self.table[ctx.LIMIT] = arena
        self.table[ctx.DYNAMIC] = work.dynamic
        # without states, what a kernel gives back (nothing) still has a place
        self.states = np.zeros(count * work.runner.size + 16, np.uint8)
        self.memory = self.states.ctypes.data
        self.slots = np.zeros((count, ctx.CELLS), np.int64)
        self.slots[:, ctx.THREAD : ctx.NUMBER + 1] = threads
        self.slots[:, ctx.BLOCK_DIM : ctx.HEAD + 1] = [
            *work.order.block_dim, *work.order.grid_dim,
            work.report.ctypes.data, work.arguments.ctypes.data, self.table.ctypes.data,
        ]  # fmt: skip
        self.where = np.full(count, ENDED, np.int64)
        self.place = (0, 0, 0)

    def begin(self, place: Ints) -> None:
        """New threads for the block at this place of the grid."""
        work = self.work
        # the array of a size given by the launch lies at the start of the arena
        self.table[ctx.USED] = -(-work.dynamic // 16) * 16
        self.table[ctx.PHASE :] = 0
        self.slots[:, ctx.CLOCK] = 0
        self.arena[: work.dynamic] = 0xFF
        self.place = (int(place[0]), int(place[1]), int(place[2]))
        self.enter(place[None])
        self.ready = np.arange(len(self.where))

    def enter(self, blocks: Ints) -> None:
        """Call the compiled kernel for some blocks."""
        runner = self.work.runner
        cleared = len(self.table) if self.work.kernel.traits.shared and not runner.size else 0
        call = np.array([
            blocks.ctypes.data, len(blocks), self.slots.ctypes.data, len(self.slots),
            self.table.ctypes.data, cleared, self.memory, runner.size,
        ], np.int64)  # fmt: skip
        enter(runner.code, call.ctypes.data)

    def run(self) -> None:
        """Let the threads run until all have ended or wait for the whole grid."""
        while len(self.ready):
            self._advance(self.ready)
            self.ready = self._released()

    def _advance(self, order: Ints) -> None:
        """Run these threads to their next wait, and all of them on from one barrier to another."""
        work = self.work
        rows = work.order.shuffled(order)
        advance(
            work.runner.step, self.memory, work.runner.size, rows, work.order.rounds,
            self.where, work.barriers, self.table,
        )  # fmt: skip

    def _released(self) -> Ints:
        """The threads that can go on: those of complete exchanges, else all at a barrier."""
        where = self.where
        first = int(where[0])
        if first != ENDED and (where == first).all():
            return self._together(first)
        waiting = np.flatnonzero(where != ENDED)
        if not len(waiting):
            return waiting
        kinds = {int(s): SITES[int(s)].kind for s in np.unique(where[waiting])}
        if WARP in kinds.values():
            return warps.release(where, self.slots, self.place)
        if len(kinds) > 1:
            self._diverged(sorted(kinds, key=lambda s: SITES[s].line))
        site = next(iter(kinds))
        ended = len(where) - len(waiting)
        raise BarrierError(
            f"{ended} of {len(where)} threads of a block end before the barrier"
            f" `{SITES[site].what}` at line {SITES[site].line} of `{SITES[site].function}`"
            f" that the others wait at (block {self.place})"
        )

    def _together(self, site: int) -> Ints:
        """All threads are at one place."""
        kind = SITES[site].kind
        if kind == GRID:
            return np.arange(0)
        if kind == WARP:
            return warps.release(self.where, self.slots, self.place)
        assert kind == BARRIER
        self._count(SITES[site].what)
        self.table[ctx.PHASE] += 1
        return np.arange(len(self.where))

    def _count(self, what: str) -> None:
        values = self.slots[:, ctx.VALUE]
        if what == "syncthreads_count":
            self.slots[:, ctx.RESULT] = int(np.count_nonzero(values))
        elif what == "syncthreads_and":
            self.slots[:, ctx.RESULT] = int((values != 0).all())
        elif what == "syncthreads_or":
            self.slots[:, ctx.RESULT] = int((values != 0).any())

    def _diverged(self, sites: list[int]) -> None:
        one, other = SITES[sites[0]], SITES[sites[1]]
        counts = [int((self.where == s).sum()) for s in sites[:2]]
        raise BarrierError(
            f"divergent barrier: {counts[0]} threads of a block wait at `{one.what}` at line"
            f" {one.line} of `{one.function}`, {counts[1]} at `{other.what}` at line"
            f" {other.line} of `{other.function}` (block {self.place})"
        )

    @property
    def at_grid(self) -> int:
        """The place of the grid's barrier that the whole block waits at, or `ENDED`."""
        return int(self.where[0])


def run_straight(work: Work) -> None:
    """Run a kernel whose threads wait for nothing."""
    memory = Block(work, work.order.shuffled(work.order.threads))
    work.watch([memory.arena])
    memory.enter(work.order.blocks)


def run_blocks(work: Work) -> None:
    """Run all blocks of a launch, one after another unless they wait for each other."""
    order = work.order
    if not work.kernel.traits.cooperative:
        block = Block(work, order.threads)
        work.watch([block.arena])
        for place in order.blocks:
            block.begin(place)
            block.run()
        return
    blocks = [Block(work, order.threads) for _ in order.blocks]
    work.watch([b.arena for b in blocks])
    for block, place in zip(blocks, order.blocks, strict=True):
        block.begin(place)
    while blocks:
        for block in blocks:
            block.run()
        sites = {block.at_grid for block in blocks}
        if sites == {ENDED}:
            return
        if len(sites) > 1:
            _parted(blocks, sites)
        for block in blocks:
            block.ready = np.arange(len(order.threads))
            block.table[[ctx.PHASE, ctx.GRID_PHASE]] += 1


def _parted(blocks: list[Block], sites: set[int]) -> None:
    waiting = sorted(sites - {ENDED})
    site = SITES[waiting[0]]
    ended = sum(block.at_grid == ENDED for block in blocks)
    others = f"{ended} of {len(blocks)} blocks end before"
    if len(waiting) > 1:
        others = f"other blocks wait at line {SITES[waiting[1]].line} instead of"
    raise BarrierError(
        f"{others} the grid's barrier at line {site.line} of `{site.function}`, where a block waits"
    )
