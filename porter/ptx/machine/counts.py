"""What a launch executes: instructions by class, active lanes, sectors, bank conflicts, bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from porter.ptx.arithmetic.kinds import Array
from porter.ptx.machine.memory import Memory
from porter.ptx.program.pieces import Piece
from porter.ptx.program.sites import Site

#: bytes of a sector, lanes of a warp, banks of shared memory and the bytes that one gives at once
SECTOR, WARP, BANKS, WORD = 32, 32, 32, 4


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

    @property
    def instructions(self) -> int:
        """Instructions of all threads."""
        return sum(self.threads.values())

    @property
    def active(self) -> float:
        """The share of lanes that take part in an instruction."""
        return self.instructions / (WARP * self.warps) if self.warps else 1.0

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
        size = site.size
        pairs = np.unique(np.stack([warps, addresses // SECTOR]), axis=1)
        self.sectors += pairs.shape[1]
        each = np.unique(np.stack([warps, addresses]), axis=1)[0]
        per_warp = np.unique(each, return_counts=True)[1]
        self.requests += len(per_warp)
        self.ideal += int((-(-per_warp * size // SECTOR)).sum())
        numbers = memory.inside(addresses, size)[0]
        for number in np.unique(numbers).tolist():
            region = memory.regions[number]
            key = (region.low, site.writes)
            if key not in self.marks:
                self.marks[key] = np.zeros(region.high - region.low, np.bool_)
            first = addresses[numbers == number] - region.low
            for k in range(size):
                self.marks[key][first + k] = True

    def shared(self, size: int, offsets: Array, warps: Array, lanes: Array) -> None:
        """Count an access of shared memory: words of one bank that differ come one by one.

        Of 8 bytes a half warp is served at once, of 16 a quarter.
        """
        words = max(1, size // WORD)
        part = warps * words + lanes // (WARP // words)
        self.shared_requests += len(np.unique(warps))
        first = offsets // WORD
        asked = np.concatenate([np.stack([part, first + k]) for k in range(words)], axis=1)
        asked = np.unique(asked, axis=1)
        _, passes = np.unique(asked[0] * BANKS + asked[1] % BANKS, return_counts=True)
        banks = np.unique(asked[0] * BANKS + asked[1] % BANKS)
        worst = np.zeros(int(part.max()) + 1, np.int64)
        np.maximum.at(worst, banks // BANKS, passes)
        self.conflicts += int((worst[worst > 0] - 1).sum())

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
