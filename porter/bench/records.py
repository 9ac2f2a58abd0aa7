"""What was counted of a function and of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from porter.verify.compile.occupancy import ARCHITECTURES, blocks_per_sm, occupancy


@dataclass(frozen=True)
class KernelCounts:
    """A kernel in one call of its function.

    `blocks` and `threads` (of a block) are those of its largest launch.  What follows is summed
    over all launches: `classes` has instructions of threads by class, `warps` those of warps.
    `bytes` is what the launches touch, each sector once in a launch; `elements` those of the array
    of which a launch touches most.  `longest` and `waits` are the instructions and the accesses of
    arrays of the warp that has most, in the mean of the launches.  `sampled` says that some blocks,
    or launches, stand for all.  `replayed` launches are those of a graph; the others get `arrays`
    in all.
    """

    name: str
    launches: int
    blocks: int
    threads: int
    classes: Mapping[str, float]
    warps: float
    elements: float
    bytes: float
    requests: float
    sectors: float
    ideal_sectors: float
    bank_conflicts: float
    barriers: float
    longest: float
    waits: float
    active_lanes: float = 1.0
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    sampled: bool = False
    arrays: float = 0.0
    replayed: int = 0

    @property
    def instructions(self) -> float:
        """Instructions of all threads."""
        return sum(self.classes.values())

    @property
    def per_element(self) -> float:
        """Instructions for each element."""
        return self.instructions / max(self.elements, 1.0)

    @property
    def divisions(self) -> float:
        """Divisions and remainders of 64-bit integers."""
        return self.classes.get("division", 0)

    @property
    def f64(self) -> float:
        """Float64 arithmetic."""
        return self.classes.get("f64", 0)

    def resident(self, arch: str) -> int | None:
        """Blocks that one multiprocessor holds."""
        if self.registers is None:
            return None
        return blocks_per_sm(arch, self.threads, self.registers, self.shared_bytes or 0)

    def occupancy(self, arch: str) -> float | None:
        """The share of a multiprocessor's warps that blocks of the kernel can fill."""
        if self.registers is None or arch not in ARCHITECTURES:
            return None
        return occupancy(arch, self.threads, self.registers, self.shared_bytes or 0)

    def to_json(self, arch: str) -> dict[str, Any]:
        """The keys of the contract, then what else is known."""
        share = self.occupancy(arch)
        return {
            "name": self.name,
            "launches": self.launches,
            "blocks": self.blocks,
            "threads": self.threads,
            "instructions": round(self.instructions),
            "per_element": round(self.per_element, 2),
            "divisions": round(self.divisions),
            "f64": round(self.f64),
            "sectors": round(self.sectors),
            "ideal_sectors": round(self.ideal_sectors),
            "bank_conflicts": round(self.bank_conflicts),
            "active_lanes": round(self.active_lanes, 4),
            "barriers": round(self.barriers),
            "registers": self.registers,
            "spill_bytes": self.spill_bytes,
            "shared_bytes": self.shared_bytes,
            "occupancy": None if share is None else round(share, 4),
            "classes": {k: round(n) for k, n in sorted(self.classes.items())},
            "bytes": round(self.bytes),
            "sampled": self.sampled,
            "replayed": self.replayed,
        }


@dataclass(frozen=True)
class Step:
    """One array operation of the original, as often as it runs: its bytes, and the products that
    it sums, in single precision or not; `columns` are what a factorisation does one by one."""

    name: str
    launches: float
    bytes: float
    products: float = 0.0
    single: bool = False
    columns: float = 0.0


@dataclass(frozen=True)
class FunctionCounts:
    """A function in one call; without kernels `reason` says why nothing was counted.

    `size` has the extents and the integer arguments; `notes` say how the counts were made.
    `reused` are results that have the memory of earlier ones, which is no allocation.
    `steps` are the operations of the original, None where they were not counted; `measured` has
    times in milliseconds, by what was timed.  `host_ms` is what libraries take on the host,
    `library` what one does on the device.
    """

    name: str
    types: str = ""
    size: Mapping[str, int] = field(default_factory=dict)
    launches: int = 0
    allocations: int = 0
    read_backs: int = 0
    least_bytes: float = 0.0
    kernels: tuple[KernelCounts, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    steps: tuple[Step, ...] | None = None
    measured: Mapping[str, Mapping[str, Any]] | None = None
    reused: int = 0
    host_ms: float = 0.0
    library: tuple[Step, ...] = ()

    @property
    def only_measured(self) -> bool:
        """Whether it is a function of compiled loops, which was timed."""
        return not self.reason and "loops" in (self.measured or {})

    @property
    def bytes(self) -> float:
        """What all launches touch of arrays, and the library's operations."""
        return sum(k.bytes for k in self.kernels) + sum(s.bytes for s in self.library)

    def operated(self, line: Mapping[str, Any]) -> FunctionCounts:
        """The same with the operations of the original, as a child wrote them."""
        if "steps" not in line:
            why = line.get("unknown", "its process ended")
            return replace(self, notes=(*self.notes, f"operation by operation: unknown: {why}"))
        notes = (*self.notes, line["note"]) if line["note"] else self.notes
        return replace(self, notes=notes, steps=tuple(Step(**s) for s in line["steps"]))

    def to_json(self, arch: str) -> dict[str, Any]:
        """The keys of the contract, then what else is known."""
        return {
            "name": self.name,
            "size": dict(self.size),
            "launches": self.launches,
            "allocations": self.allocations,
            "read_backs": self.read_backs,
            "host_ms": round(self.host_ms, 3),
            "library": sum(round(s.launches) for s in self.library),
            "bytes": round(self.bytes),
            "least_bytes": round(self.least_bytes),
            "kernels": [k.to_json(arch) for k in self.kernels],
            "measured": self.measured,
            "types": self.types,
            "operations": None
            if self.steps is None
            else sum(round(s.launches) for s in self.steps),
            "notes": list(self.notes),
            "reason": self.reason,
        }


def function_counts(data: Mapping[str, Any]) -> FunctionCounts:
    """What a child wrote."""
    kernels = tuple(KernelCounts(**k) for k in data["kernels"])
    library = tuple(Step(**s) for s in data.get("library", ()))
    more = {"kernels": kernels, "notes": tuple(data["notes"]), "library": library}
    return FunctionCounts(**{**data, **more})
