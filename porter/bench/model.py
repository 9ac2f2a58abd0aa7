"""How long counted kernels take on a GPU: a roofline (Williams, Waterman, Patterson 2009).

A launch takes the longest of its bytes over the bandwidth, its instructions over the rate of all
lanes, the latency of its longest warp, and the time of the shortest.  A call takes as long as its
launches, or as the host needs for them where that is longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.bench.gpus import (
    ALLOCATION,
    ARRAY,
    COLUMN,
    DIVISION,
    IN_FLIGHT,
    ISSUE,
    L1_BYTES,
    LAUNCH,
    OPERATION,
    REUSED,
    SHORTEST,
    WAIT,
    Gpu,
)
from porter.bench.records import FunctionCounts, KernelCounts, Step

_SECTOR, _WARP = 32, 32


@dataclass(frozen=True)
class KernelTime:
    """The modelled milliseconds of a kernel's launches; `waves` is how often its largest launch
    fills the GPU."""

    name: str
    ms: float
    bound_by: str
    waves: float


@dataclass(frozen=True)
class Modelled:
    """A call on a GPU; `cupy_ms` is the original operation by operation, `None` where unknown."""

    gpu: Gpu
    arch: str
    ms: float
    least_ms: float
    bound_by: str
    kernels: tuple[KernelTime, ...]
    cupy_ms: float | None = None


def modelled(counts: FunctionCounts, gpu: Gpu, arch: str) -> Modelled:
    """The times of a call whose kernels were compiled for `arch`."""
    kernels = tuple(kernel_time(k, gpu, arch) for k in counts.kernels)
    bounds: dict[str, float] = {}
    for time in kernels:
        bounds[time.bound_by] = bounds.get(time.bound_by, 0.0) + time.ms
    if counts.library:
        bounds["library"] = sum(step_time(s, gpu) for s in counts.library)
    own, host = sum(bounds.values()), host_time(counts)
    bound = max(bounds, key=lambda name: bounds[name], default="launches")
    bound = bound if own >= host else "launches"
    return Modelled(
        gpu,
        arch,
        max(own, host) + counts.host_ms,
        least_time(counts.least_bytes, gpu),
        bound if counts.host_ms < max(own, host) else "host",
        kernels,
        None if counts.steps is None else original_time(counts.steps, gpu),
    )


def host_time(counts: FunctionCounts) -> float:
    """Milliseconds that the host needs for the launches, the library's operations and the arrays
    of a call."""
    launches = sum(k.launches - k.replayed for k in counts.kernels)
    arrays = sum(k.arrays for k in counts.kernels)
    made = ALLOCATION * counts.allocations + REUSED * counts.reused
    library = OPERATION * sum(s.launches for s in counts.library)
    return 1e-3 * (LAUNCH * launches + ARRAY * arrays + library + made)


def least_time(size: float, gpu: Gpu) -> float:
    """Milliseconds of one launch that reads each input and writes each output once."""
    return 1e3 * max(size / gpu.copy, (LAUNCH + 2 * ARRAY) * 1e-6)


def original_time(steps: Sequence[Step], gpu: Gpu) -> float:
    """Milliseconds of the original operation by operation."""
    host = 1e-3 * OPERATION * sum(s.launches for s in steps)
    return max(host, sum(step_time(s, gpu) for s in steps))


def step_time(step: Step, gpu: Gpu) -> float:
    """Milliseconds of an array operation, each of its launches at the speed of a copy."""
    launches = max(step.launches, 1e-9)
    waits = COLUMN * 1e-6 * step.columns / launches
    each = max(
        step.bytes / launches / gpu.copy,
        step.products / launches / gpu.product(step.single) + waits,
        SHORTEST * 1e-6,
    )
    return 1e3 * step.launches * each


def kernel_time(kernel: KernelCounts, gpu: Gpu, arch: str) -> KernelTime:
    """The time of all launches of a kernel."""
    launches = max(kernel.launches, 1)
    # multiprocessors without a block do nothing
    share = min(1.0, kernel.blocks / gpu.sms)
    resident = kernel.resident(arch) or 1
    waves = kernel.blocks / (resident * gpu.sms)
    longest = ISSUE * kernel.longest + WAIT / IN_FLIGHT * kernel.waits
    extra = kernel.divisions * (DIVISION - 1)
    times = {
        "memory": max(
            kernel.bytes / launches / gpu.copy,
            kernel.sectors * _SECTOR / launches / (share * gpu.cycles * L1_BYTES),
        ),
        "instructions": max(
            (kernel.warps * _WARP + extra) / launches / (share * gpu.instructions),
            kernel.f64 / launches / (share * gpu.f64),
            kernel.bank_conflicts / launches / (share * gpu.cycles),
        ),
        "latency": max(1.0, waves) * longest / (gpu.clock * 1e9),
        "launches": SHORTEST * 1e-6,
    }
    bound = max(times, key=lambda name: times[name])
    return KernelTime(kernel.name, 1e3 * launches * times[bound], bound, waves)
