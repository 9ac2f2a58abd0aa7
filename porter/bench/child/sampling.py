"""One launch on the PTX machine: some of its blocks, for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.machine.arguments import Layout
from porter.ptx.machine.counts import SECTOR, WARP, Counts
from porter.ptx.machine.launch import launch
from porter.ptx.machine.memory import Memory
from porter.ptx.machine.task import Code
from porter.ptx.program.sites import Site

#: grids of at most so many blocks run whole
WHOLE = 8
#: blocks between the first and the last that stand for all of them
BETWEEN = 3


@dataclass
class Marked(Counts):
    """Counts that know which sectors of each array were touched."""

    sectors_of: dict[tuple[int, bool], Array] = field(default_factory=dict)
    touched: dict[tuple[int, bool], int] = field(default_factory=dict)
    regions: dict[int, int] = field(default_factory=dict)

    def mark(self, site: Site, addresses: Array, sectors: Array, memory: Memory) -> None:
        """Note which sectors an access touches: marks of bytes are too many for large arrays."""
        # arrays begin at sectors of their own
        numbers = np.searchsorted(memory.lows, sectors * SECTOR + SECTOR - 1, "right") - 1
        for number in np.unique(numbers[numbers >= 0]).tolist():
            region = memory.regions[number]
            key = region.low, site.writes
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
