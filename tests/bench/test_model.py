"""The roofline: which of its terms binds, on kernels with known counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.bench.gpus import ALLOCATION, ARRAY, GPUS, LAUNCH, OPERATION, SHORTEST
from porter.bench.model import kernel_time, modelled, step_time
from porter.bench.records import FunctionCounts, KernelCounts, Step
from porter.verify.compile.occupancy import ARCHITECTURES

H200 = GPUS["h200"]
#: x + y of 2**28 float64: 32 instructions of an element
N = 1 << 28
PLAIN = KernelCounts(
    "add", 1, N // 256, 256, {"integer": 31.0 * N, "f64": 1.0 * N}, N, N, 24 * N, 3 * N / 32,
    24 * N / 32, 24 * N / 32, 0, 0, 32, 3, registers=16, spill_bytes=0, shared_bytes=0,
)  # fmt: skip


def time(kernel: KernelCounts, gpu: str = "h200") -> tuple[float, str]:
    found = kernel_time(kernel, GPUS[gpu], GPUS[gpu].arch)
    return found.ms, found.bound_by


def test_few_instructions_of_an_element_are_bound_by_memory() -> None:
    ms, bound = time(PLAIN)
    assert bound == "memory"
    assert ms == pytest.approx(1e3 * 24 * N / 4.2e12)


def test_many_instructions_bind() -> None:
    many = replace(PLAIN, classes={"integer": 400.0 * N}, warps=400 * N / 32, longest=400)
    ms, bound = time(many)
    assert bound == "instructions"
    assert ms == pytest.approx(1e3 * 400 * N / (132 * 128 * 1.755e9))


def test_float64_binds_where_a_gpu_has_few_lanes_for_it() -> None:
    few = replace(PLAIN, classes={"integer": 10.0 * N, "f64": 40.0 * N}, warps=50 * N / 32)
    assert time(few)[1] == "memory"
    assert time(few, "rtx4090")[1] == "instructions"


def test_divisions_count_as_the_routine_that_does_them() -> None:
    ms, _ = time(PLAIN)
    more, bound = time(replace(PLAIN, classes={"integer": 28.0 * N, "division": 4.0 * N}))
    assert bound == "instructions" and more > 1.2 * ms


def test_uncoalesced_accesses_are_bound_by_the_cache() -> None:
    ms, _ = time(PLAIN)
    more, bound = time(replace(PLAIN, sectors=32 * PLAIN.sectors))
    assert bound == "memory" and more > 2 * ms


def test_few_threads_wait_for_memory() -> None:
    few = replace(PLAIN, blocks=1, longest=20e6, waits=1e6, warps=2 * 20e6, sectors=64e6)
    ms, bound = time(replace(few, threads=64, bytes=512e6))
    assert bound == "latency" and ms > 50


def test_a_small_launch_costs_its_launch() -> None:
    small = replace(PLAIN, blocks=1, classes={"integer": 100.0}, warps=4, bytes=24, sectors=3)
    ms, bound = time(replace(small, launches=7))
    assert (round(ms, 9), bound) == (round(7e-3 * SHORTEST, 9), "launches")


def test_a_call_is_bound_by_what_binds_most_of_its_time() -> None:
    small = replace(PLAIN, name="small", blocks=1, bytes=24, sectors=3, warps=4, classes={})
    counts = FunctionCounts("f", kernels=(small, PLAIN), least_bytes=24 * N)
    assert modelled(counts, H200, "sm_90").cupy_ms is None
    counts = replace(counts, steps=(Step("add", 1, 24 * N), Step("copy", 3, 0)))
    found = modelled(counts, H200, "sm_90")
    assert found.bound_by == "memory"
    assert found.ms == pytest.approx(time(PLAIN)[0] + 1e-3 * SHORTEST)
    assert found.least_ms == pytest.approx(time(PLAIN)[0])
    assert found.cupy_ms == pytest.approx(time(PLAIN)[0] + 3e-3 * SHORTEST)


def test_many_short_launches_are_bound_by_the_host() -> None:
    small = replace(PLAIN, launches=1000, arrays=2000, blocks=1, bytes=24, sectors=3, warps=4)
    small = replace(small, classes={}, longest=10, waits=1)
    steps = (Step("add", 3000, 0),)
    found = modelled(
        FunctionCounts("f", kernels=(small,), allocations=10, steps=steps), H200, "sm_90"
    )
    assert found.ms == pytest.approx(1e-3 * (1000 * LAUNCH + 2000 * ARRAY + 10 * ALLOCATION))
    assert found.bound_by == "launches" and found.cupy_ms == pytest.approx(3 * OPERATION)
    # a graph replays all but some
    replayed = replace(small, arrays=20, replayed=990)
    found = modelled(FunctionCounts("f", kernels=(replayed,)), H200, "sm_90")
    assert found.ms == pytest.approx(1000e-3 * SHORTEST)


def test_a_product_of_matrices_takes_a_librarys_time() -> None:
    n = 4096
    step = Step("matmul", 1, 3 * 4 * n * n, float(n) ** 3, single=True)
    assert step_time(step, H200) == pytest.approx(2.7, rel=0.05)


def test_every_gpu_has_an_architecture_whose_limits_are_known() -> None:
    assert {gpu.arch for gpu in GPUS.values()} <= ARCHITECTURES.keys()
    assert all(gpu.source for gpu in GPUS.values())
