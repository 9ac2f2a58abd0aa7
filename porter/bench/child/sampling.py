"""One launch on the PTX machine: some of its blocks, for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.bench.child.virtual import zeros
from porter.ptx.arithmetic.kinds import Array
from porter.ptx.errors import MachineError
from porter.ptx.machine.arguments import Layout
from porter.ptx.machine.counts import SECTOR, WARP, WORD, Counts, Numbers, distinct
from porter.ptx.machine.launch import MOST, launch
from porter.ptx.machine.memory import Memory
from porter.ptx.machine.task import Code, Work
from porter.ptx.machine.turns import Unsteady
from porter.ptx.program.sites import Site

#: grids of at most so many blocks run whole
WHOLE = 8
#: blocks between the first and the last that stand for all of them
BETWEEN = 3
#: instructions of a thread that are executed before some turns of a loop stand for all
EXACT = 4000
#: times as many where what a kernel stores decides what it executes
_WARY = 25

_BYTE, _WHOLE = np.dtype(np.uint8), 0xFF
#: the share of a sector that its marked words make
_ONES = np.array([bin(words).count("1") for words in range(_WHOLE + 1)]) * WORD / SECTOR


@dataclass
class Marked(Counts):
    """Counts that know which sectors of each array were touched.

    Where some turns of a loop stand for all (`some`), the words of a sector are counted apart: the
    others may belong to turns that are skipped.
    """

    words_of: dict[tuple[int, bool], Array] = field(default_factory=dict)
    touched: dict[tuple[int, bool], float] = field(default_factory=dict)
    regions: dict[int, int] = field(default_factory=dict)
    spans: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)

    def mark(self, site: Site, addresses: Array, sectors: Array, memory: Memory) -> None:
        """Note which sectors an access touches: marks of bytes are too many for large arrays."""
        # arrays begin at sectors of their own
        numbers = np.searchsorted(memory.lows, sectors * SECTOR + SECTOR - 1, "right") - 1
        for number in distinct(numbers[numbers >= 0]).tolist():
            region = memory.regions[number]
            key = region.low, site.writes
            first = region.low // SECTOR
            if key not in self.words_of:
                self.regions[region.low] = region.high - region.low
                self.words_of[key] = zeros((region.high // SECTOR + 1 - first,), _BYTE)
                self.touched[key], self.spans[key] = 0, (region.high, region.low)
            words = self.words_of[key]
            places = sectors[numbers == number]
            low, high = self.spans[key]
            self.spans[key] = (
                min(low, int(places.min()) * SECTOR), max(high, int(places.max() + 1) * SECTOR)
            )  # fmt: skip
            if self.some:
                own = addresses[(addresses >= region.low) & (addresses < region.high)]
                self.touched[key] += _marked(words, distinct(own) - first * SECTOR, site.size)
                continue
            places = places[places * SECTOR < region.high] - first
            new = places[words[places] != _WHOLE]
            if new.size:
                new = np.unique(new)
                self.touched[key] += float((1 - _ONES[words[new]]).sum())
                words[new] = _WHOLE

    def numbers(self) -> Numbers:
        """All counts, those of sectors by their arrays."""
        return super().numbers() | {("touched", key): n for key, n in self.touched.items()}

    def become(self, numbers: Numbers) -> None:
        """Take over counts."""
        super().become(numbers)
        for key in self.touched:
            low, high = self.spans[key]
            found = numbers.get(("touched", key), 0.0)
            # turns that touch the same find more that is new the farther they are apart
            self.touched[key] = min(found, (high - low) / SECTOR)


def _marked(words: Array, offsets: Array, size: int) -> float:
    """Mark the words at some offsets in bytes; how many sectors they make that are new."""
    places, word = offsets // SECTOR, offsets % SECTOR // WORD
    masks = (((1 << max(1, size // WORD)) - 1) << word).astype(np.uint8)
    of = distinct(places)
    before = _ONES[words[of]].sum()
    np.bitwise_or.at(words, places, masks)
    return float(_ONES[words[of]].sum() - before)


@dataclass
class Tally:
    """What a launch comes to: counts, those of the sampled blocks scaled to all blocks.

    `read` and `written` have bytes by the address of their array, `sizes` those arrays' own bytes.
    `sampled` says that some blocks stand for all, `turns` that some turns of loops do.
    """

    classes: dict[str, float] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    read: dict[int, float] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    longest: float = 0.0
    waits: float = 0.0
    sampled: bool = False
    turns: bool = False

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
        for (low, writes), sectors in counts.touched.items():
            found = self.written if writes else self.read
            found[low] = found.get(low, 0.0) + weight * sectors * SECTOR
        self.sizes |= counts.regions
        self.turns = self.turns or counts.skipped
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


def steady(code: Code) -> bool:
    """Whether what a kernel stores does not decide what it executes."""
    return not code.origins.deciding & code.origins.written


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
    whole: set[int] = set()
    steps: int | None = EXACT if steady(code) else EXACT * _WARY
    for blocks, weight in groups(total):
        while True:
            counts, work = Marked(), Work(MOST, steps=steps, whole=whole)
            try:
                launch(
                    code, grid, block, args, names=names, dynamic=dynamic, counts=counts,
                    layout=layout, blocks=blocks, work=work,
                )  # fmt: skip
            except Unsteady as loop:
                whole.add(loop.mark)
            except MachineError:
                if not counts.skipped:
                    raise
                # such as a subscript that a turn would have stored
                steps = None
            else:
                break
        tally.add(counts, weight, warps * len(blocks))
    return tally
