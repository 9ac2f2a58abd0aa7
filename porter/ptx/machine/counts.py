"""What a launch executes: instructions by class, active lanes, sectors, bank conflicts, bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.machine.memory import Memory
from porter.ptx.program.pieces import Piece
from porter.ptx.program.sites import Site

#: bytes of a sector, lanes of a warp, banks of shared memory and the bytes that one gives at once
SECTOR, WARP, BANKS, WORD = 32, 32, 32, 4
#: counts that are plain numbers
_OWN = (
    "warps", "requests", "sectors", "ideal", "shared_requests", "conflicts", "barriers"
)  # fmt: skip
#: counts by their names
Numbers: TypeAlias = dict[str | tuple[str, object], float]
#: an address has fewer bits: a warp and an address are one number, which sorts faster than a pair
_BITS = 48


def distinct(values: Array) -> Array:
    """The values in order, each once; quick where they are in order."""
    steps = np.diff(values)
    if (steps < 0).any():
        return np.unique(values)
    found: Array = values[np.concatenate([[True], steps > 0])]
    return found


@dataclass
class Counts:
    """Counts of one or more launches.

    `threads` has instructions times threads by class, `warps` instructions times warps.  Requests
    are accesses of a warp; `conflicts` are the passes of shared memory beyond the first.
    """

    threads: dict[str, int] = field(default_factory=dict)
    warps: int = 0
    requests: int = 0
    sectors: int = 0
    ideal: int = 0
    shared_requests: int = 0
    conflicts: int = 0
    barriers: int = 0
    marks: dict[tuple[int, bool], Array] = field(default_factory=dict)
    #: requests and conflicts of accesses of shared memory that have been met, by their pattern
    patterns: dict[tuple[Any, ...], tuple[int, int]] = field(default_factory=dict)
    #: whether some turns of a loop stand for all: now, and at any time
    some, skipped = False, False

    @property
    def instructions(self) -> int:
        """Instructions of all threads."""
        return sum(self.threads.values())

    @property
    def active(self) -> float:
        """The share of lanes that take part in an instruction."""
        return self.instructions / (WARP * self.warps) if self.warps else 1.0

    def numbers(self) -> Numbers:
        """All counts, for sums and differences: those of classes by pairs."""
        own: Numbers = {name: float(getattr(self, name)) for name in _OWN}
        return own | {("class", name): float(n) for name, n in self.threads.items()}

    def become(self, numbers: Numbers) -> None:
        """Take over counts."""
        for name, number in numbers.items():
            if isinstance(name, str):
                setattr(self, name, round(number))
            elif name[0] == "class":
                self.threads[str(name[1])] = round(number)

    def unique_bytes(self, writes: bool) -> int:
        """Bytes of arrays that were read, or written, at least once."""
        marked = [m for (_, written), m in self.marks.items() if written == writes]
        return sum(int(np.count_nonzero(m)) for m in marked)

    def piece(self, piece: Piece, threads: int, warps: int) -> None:
        """Count a piece that some threads of some warps executed."""
        number = len(piece.operations) + piece.branches
        self.warps += warps * number
        for operation in piece.operations:
            name = operation.row.counted(operation.form)
            self.threads[name] = self.threads.get(name, 0) + threads
        self.threads["branch"] = self.threads.get("branch", 0) + threads * piece.branches

    def access(self, site: Site, addresses: Array, warps: Array, memory: Memory) -> None:
        """Count an access of arrays: the sectors that each warp asks for, and the fewest."""
        of_warps = warps.astype(np.int64) << _BITS
        asked = distinct(of_warps | (addresses // SECTOR).astype(np.int64))
        self.sectors += len(asked)
        elements = distinct(of_warps | addresses.astype(np.int64)) >> _BITS
        per_warp = np.diff(np.flatnonzero(np.diff(elements, prepend=-1, append=-1)))
        self.requests += len(per_warp)
        self.ideal += int((-(-per_warp * site.size // SECTOR)).sum())
        self.mark(site, addresses, asked & ((1 << _BITS) - 1), memory)

    def mark(self, site: Site, addresses: Array, sectors: Array, memory: Memory) -> None:
        """Note which bytes an access touches."""
        numbers = memory.inside(addresses, site.size)[0]
        for number in np.unique(numbers).tolist():
            region = memory.regions[number]
            key = (region.low, site.writes)
            if key not in self.marks:
                self.marks[key] = np.zeros(region.high - region.low, np.bool_)
            first = addresses[numbers == number] - region.low
            for k in range(site.size):
                self.marks[key][first + k] = True

    def shared(self, size: int, offsets: Array, warps: Array, lanes: Array) -> None:
        """Count an access of shared memory: words of one bank that differ come one by one.

        Of 8 bytes a half warp is served at once, of 16 a quarter.  A pattern that is met again some
        words further on has as many conflicts.
        """
        first = int(offsets[0])
        parts = (offsets - first, warps, lanes)
        pattern = size, first % WORD, *(part.tobytes() for part in parts)
        if pattern not in self.patterns:
            self.patterns[pattern] = _banks(size, offsets, warps, lanes)
        requests, conflicts = self.patterns[pattern]
        self.shared_requests += requests
        self.conflicts += conflicts

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "instructions": self.instructions,
            "classes": dict(sorted(self.threads.items())),
            "active_lanes": round(self.active, 4),
            "requests": self.requests,
            "sectors": self.sectors,
            "ideal_sectors": self.ideal,
            "shared_requests": self.shared_requests,
            "bank_conflicts": self.conflicts,
            "barriers": self.barriers,
            "bytes_read": self.unique_bytes(False),
            "bytes_written": self.unique_bytes(True),
        }


def _banks(size: int, offsets: Array, warps: Array, lanes: Array) -> tuple[int, int]:
    """Requests of warps, and the passes beyond the first one of each part of a warp."""
    words = max(1, size // WORD)
    part = (warps * words + lanes // (WARP // words)).astype(np.int64)
    first = (part << _BITS) | (offsets // WORD).astype(np.int64)
    every = first if words == 1 else (first[:, None] + np.arange(words)).reshape(-1)
    asked = distinct(every)
    banks = (asked >> _BITS) * BANKS + (asked & (BANKS - 1))
    passes = np.bincount(banks, minlength=BANKS)
    passes = np.concatenate([passes, np.zeros(-len(passes) % BANKS, np.int64)])
    worst = passes.reshape(-1, BANKS).max(axis=1)
    return len(distinct(warps)), int((worst[worst > 0] - 1).sum())
