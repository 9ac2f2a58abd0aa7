"""Seconds from counts: a roofline for each launch, transfers and latencies added up.

S. Williams, A. Waterman and D. Patterson: Roofline, an insightful visual performance model
for multicore architectures (2009).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.cost.amounts import Amount, SizeUnknown, total
from porter.cost.kernels import KernelWork
from porter.cost.machine import Machine
from porter.cost.work import Work
from porter.sizes.polynomial import Poly
from porter.trace.counts import Counted

_US, _GB, _TERA = 1e-6, 1e9, 1e12
#: PTX instructions of a thread for each operation, element that it accesses, and barrier: what fits
#: the counts of the PTX machine best (docs/cost.md has the errors)
PER_OPERATION, PER_ACCESS, PER_BARRIER = 1.3, 12.0, 8.0
#: where addresses are added up, not computed
PER_STEP = 5.0


@dataclass(frozen=True)
class Estimate:
    """One call in numbers: bytes, operations, launches, and seconds by the model.

    `host_seconds` is what compiled code on one core of the host would take at least.
    """

    to_device: float
    to_host: float
    device_bytes: float
    operations: float
    launches: float
    transfer_seconds: float
    kernel_seconds: float
    host_seconds: float

    @property
    def seconds(self) -> float:
        """A call with host arrays: transfers and kernels."""
        return self.transfer_seconds + self.kernel_seconds

    @property
    def transferred(self) -> float:
        """Bytes both ways."""
        return self.to_device + self.to_host


@dataclass(frozen=True)
class Factors:
    """How many times as much compiled kernels were counted to do as the plan has."""

    bytes: float = 1.0
    instructions: float = 1.0


_PLAN = Factors()


def factors(work: Work, sizes: Mapping[str, int], counted: Counted) -> Factors:
    """What a plan's amounts are multiplied by, so that they are those that were counted.

    Where the plan has no amounts for these sizes, or other launches, they stay as they are.
    """
    try:
        moved, launches = (total(a, sizes) for a in (work.per_launch("traffic"), work.launches))
        number = instructions(work, sizes)
    except SizeUnknown:
        return _PLAN
    if not moved or not number or launches != counted.launches:
        return _PLAN
    return Factors(counted.bytes / moved, counted.instructions / number)


def estimate(
    work: Work, sizes: Mapping[str, int], machine: Machine, by: Factors = _PLAN
) -> Estimate | None:
    """A call for these sizes; None where an amount depends on what no size tells."""
    try:
        return _estimate(work, sizes, machine, by)
    except SizeUnknown:
        return None


def _estimate(work: Work, sizes: Mapping[str, int], m: Machine, by: Factors) -> Estimate:
    there, back = total(work.to_device, sizes), total(work.to_host, sizes)
    copies = total(work.copies, sizes)
    traffic = total(work.per_launch("traffic"), sizes)
    ops32, ops64 = (total(work.per_launch(w), sizes) for w in ("ops32", "ops64"))
    kernels = sum(_kernel(times, k, sizes, m, by) for times, k in work.kernels)
    return Estimate(
        there,
        back,
        traffic * by.bytes,
        ops32 + ops64,
        total(work.launches, sizes),
        (there + back) / (m.transfer_gb_s * _GB) + copies * m.copy_us * _US,
        kernels,
        max(traffic / (m.host_gb_s * _GB), (ops32 + ops64) / (m.host_gflops * _GB)),
    )


def _kernel(
    times: tuple[Poly, ...], k: KernelWork, sizes: Mapping[str, int], m: Machine, by: Factors
) -> float:
    """Seconds of all launches of one kernel."""
    return total((Amount(1, times),), sizes) * kernel_seconds(k, sizes, m, by)


def kernel_seconds(
    k: KernelWork, sizes: Mapping[str, int], m: Machine, by: Factors = _PLAN
) -> float:
    """Seconds of a kernel's launches, once each. Raises SizeUnknown."""
    threads = total((k.threads,), sizes)
    if not threads:
        return 0.0
    share = min(1.0, threads / m.full_threads)
    memory = by.bytes * total(k.traffic, sizes) / (m.device_gb_s * _GB)
    arithmetic = total(k.ops32, sizes) / (m.fp32_tflops * _TERA)
    arithmetic += total(k.ops64, sizes) / (m.fp64_tflops * _TERA)
    issue = by.instructions * _instructions(k, sizes) / (m.tera_instructions * _TERA)
    each = max(memory, arithmetic, issue) / share
    return max(each, m.launch_us * _US) + (k.launches - 1) * m.launch_us * _US


def instructions(work: Work, sizes: Mapping[str, int]) -> float:
    """PTX instructions of all threads in one call, told from the plan. Raises SizeUnknown."""
    return sum(
        total((Amount(1, times),), sizes) * _instructions(k, sizes) for times, k in work.kernels
    )


def _instructions(k: KernelWork, sizes: Mapping[str, int]) -> float:
    accesses = sum(a.number(sizes) / a.each for a in k.traffic)
    barriers = k.barriers * total((k.threads,), sizes)
    operations = total((*k.ops32, *k.ops64), sizes)
    each = PER_STEP if k.steps_on else PER_ACCESS
    return PER_OPERATION * operations + each * accesses + PER_BARRIER * barriers
