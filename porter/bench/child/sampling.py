"""One launch on the PTX machine: some of its blocks, for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.machine.arguments import Layout
from porter.ptx.machine.counts import BANKS, SECTOR, WARP, WORD, Counts
from porter.ptx.machine.launch import launch
from porter.ptx.machine.memory import Memory
from porter.ptx.machine.task import Code
from porter.ptx.program.sites import Site

#: grids of at most so many blocks run whole
WHOLE = 8
#: blocks between the first and the last that stand for all of them
BETWEEN = 3
_BITS = 48


@dataclass
class Marked(Counts):
    """Counts that know which sectors of each array were touched; made for many accesses."""

    sectors_of: dict[tuple[int, bool], Array] = field(default_factory=dict)
    touched: dict[tuple[int, bool], int] = field(default_factory=dict)
    regions: dict[int, int] = field(default_factory=dict)

    def access(self, site: Site, addresses: Array, warps: Array, memory: Memory) -> None:
        """Count an access of arrays: the sectors that each warp asks for, and the fewest."""
        pairs = _distinct(
            (warps.astype(np.int64) << _BITS) | (addresses // SECTOR).astype(np.int64)
        )
        self.sectors += len(pairs)
        each = _distinct((warps.astype(np.int64) << _BITS) | addresses.astype(np.int64)) >> _BITS
        of_warps = np.diff(np.flatnonzero(np.diff(each, prepend=-1, append=-1)))
        self.requests += len(of_warps)
        self.ideal += int((-(-of_warps * site.size // SECTOR)).sum())
        self._mark(pairs & ((1 << _BITS) - 1), site.writes, memory)

    def shared(self, size: int, offsets: Array, warps: Array, lanes: Array) -> None:
        """Count an access of shared memory, as `Counts.shared` does."""
        words = max(1, size // WORD)
        part = (warps * words + lanes // (WARP // words)).astype(np.int64)
        self.shared_requests += len(_distinct(warps))
        first = (part << _BITS) | (offsets // WORD).astype(np.int64)
        every = first if words == 1 else (first[:, None] + np.arange(words)).reshape(-1)
        asked = _distinct(every)
        banks = (asked >> _BITS) * BANKS + (asked & (BANKS - 1))
        passes = np.bincount(banks, minlength=BANKS)
        passes = np.concatenate([passes, np.zeros(-len(passes) % BANKS, np.int64)])
        worst = passes.reshape(-1, BANKS).max(axis=1)
        self.conflicts += int((worst[worst > 0] - 1).sum())

    def _mark(self, sectors: Array, writes: bool, memory: Memory) -> None:
        # arrays begin at sectors of their own
        numbers = np.searchsorted(memory.lows, sectors * SECTOR + SECTOR - 1, "right") - 1
        for number in np.unique(numbers[numbers >= 0]).tolist():
            region = memory.regions[number]
            key = region.low, writes
            first = region.low // SECTOR
            if key not in self.sectors_of:
                self.regions[region.low] = region.high - region.low
                self.sectors_of[key] = np.zeros(region.high // SECTOR + 1 - first, np.bool_)
                self.touched[key] = 0
            places = sectors[(numbers == number) & (sectors * SECTOR < region.high)] - first
            new = places[~self.sectors_of[key][places]]
            if new.size:
                new = np.unique(new)
                self.sectors_of[key][new] = True
                self.touched[key] += new.size


def _distinct(values: Array) -> Array:
    """The values in order, each once; quick where they are in order."""
    steps = np.diff(values)
    if (steps < 0).any():
        return np.unique(values)
    found: Array = values[np.concatenate([[True], steps > 0])]
    return found


@dataclass
class Tally:
    """What a launch comes to: counts, those of the sampled blocks scaled to all blocks.

    `read` and `written` have bytes by the address of their array, `sizes` those arrays' own bytes.
    """

    classes: dict[str, float] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    read: dict[int, float] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    longest: float = 0.0
    waits: float = 0.0
    sampled: bool = False

    def add(self, counts: Marked, weight: float, warps: int) -> None:
        """Add blocks that stand for `weight` times as many; they have so many warps."""
        for name, number in counts.threads.items():
            self.classes[name] = self.classes.get(name, 0.0) + weight * number
        own = {
            "warps": counts.warps, "requests": counts.requests, "sectors": counts.sectors,
            "ideal_sectors": counts.ideal, "bank_conflicts": counts.conflicts,
            "barriers": counts.barriers,
        }  # fmt: skip
        for name, number in own.items():
            self.sums[name] = self.sums.get(name, 0.0) + weight * number
        for (low, writes), number in counts.touched.items():
            found = self.written if writes else self.read
            found[low] = found.get(low, 0.0) + weight * number * SECTOR
        self.sizes |= counts.regions
        self.longest = max(self.longest, counts.warps / warps)
        self.waits = max(self.waits, counts.requests / warps)

    @property
    def bytes(self) -> float:
        """Bytes that the launch touches, each once read and once written."""
        return sum(self.capped(self.read).values()) + sum(self.capped(self.written).values())

    def capped(self, found: dict[int, float]) -> dict[int, float]:
        """Blocks that share what they read do not read more than there is."""
        return {low: min(number, self.sizes[low]) for low, number in found.items()}


def groups(total: int) -> Iterator[tuple[list[int], float]]:
    """The numbers of blocks that run, and for how many each of them stands."""
    if total <= WHOLE:
        yield list(range(total)), 1.0
        return
    inner = total - 2
    middle = [1 + inner * (2 * k + 1) // (2 * BETWEEN) for k in range(BETWEEN)]
    yield middle, inner / BETWEEN
    yield [0, total - 1], 1.0


def sample(
    code: Code,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: Sequence[Any],
    *,
    names: Sequence[str],
    dynamic: int,
    layout: Layout,
) -> Tally:
    """Count a launch.  Raises what the machine raises."""
    total = int(np.prod(grid))
    warps = -(-int(np.prod(block)) // WARP)
    tally = Tally(sampled=total > WHOLE)
    for blocks, weight in groups(total):
        counts = Marked()
        launch(
            code, grid, block, args, names=names, dynamic=dynamic, counts=counts, layout=layout,
            blocks=blocks,
        )  # fmt: skip
        tally.add(counts, weight, warps * len(blocks))
    return tally
