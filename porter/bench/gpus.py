"""The GPUs that times are modelled for: their constants, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass

#: a copy within the device reaches this share of the data sheet's bandwidth: measured, 4.2 of
#: 4.8 TB/s of an H200 on 2026-11-26, as are the microseconds that follow
COPY = 0.875
#: the host's microseconds for a launch from Numba, more for each array that it is given; for a
#: new array and the end of an old one; for a result in the memory of an earlier one; and for an
#: operation of CuPy
LAUNCH, ARRAY, ALLOCATION, REUSED, OPERATION = 12.0, 4.2, 52.0, 30.0, 18.0
#: microseconds of a column of a library's factorisation: it waits for the one before.  cuSOLVER's
#: `getrf` of one 256 x 256 matrix took 1.1 ms, of 128 x 128 0.3 to 0.5 ms (github.com/pytorch/
#: pytorch/pull/73878, float32), and with 64 right-hand sides `getrs` 0.14 ms (.../pull/79838)
COLUMN = 4.0
#: microseconds of the shortest launch on the GPU, as those of a graph are
SHORTEST = 1.3
#: cycles from an instruction to one that needs its result (Jia et al. 2018, arXiv:1804.06826)
ISSUE = 4.0
#: cycles of an access of device memory (the same, rounded up), and accesses of a warp in flight
WAIT, IN_FLIGHT = 600.0, 4.0
#: bytes that the L1 cache of a multiprocessor gives in a cycle (NVIDIA A100 whitepaper, 2020)
L1_BYTES = 128.0
#: instructions of the routine that divides 64-bit integers.  Assumed, from its SASS
DIVISION = 70.0
#: the share of the arithmetic peak that a library's matrix product reaches.  Assumed
PRODUCT = 0.85


@dataclass(frozen=True)
class Gpu:
    """`bandwidth` of the data sheet in GB/s, `clock` in GHz; of each of `sms` multiprocessors
    `lanes` for an instruction, `lanes64` for one of float64, and `product64`, those that a matrix
    product in float64 has, with tensor cores."""

    name: str
    title: str
    arch: str
    bandwidth: float
    sms: int
    lanes: int
    lanes64: int
    product64: int
    clock: float
    source: str

    @property
    def copy(self) -> float:
        """Bytes a second that a copy moves."""
        return self.bandwidth * 1e9 * COPY

    @property
    def cycles(self) -> float:
        """Cycles of all multiprocessors in a second."""
        return self.sms * self.clock * 1e9

    @property
    def instructions(self) -> float:
        """Instructions of threads a second."""
        return self.cycles * self.lanes

    @property
    def f64(self) -> float:
        """Float64 instructions of threads a second."""
        return self.cycles * self.lanes64

    def product(self, single: bool) -> float:
        """Multiplications with additions a second of a library's matrix product."""
        return PRODUCT * self.cycles * (self.lanes if single else self.product64)


_HOPPER = "NVIDIA data sheet; clock as of the H100 PCIe's boost (whitepaper, 2022)"
_ROWS = (
    Gpu("h200", "H200 SXM", "sm_90", 4800, 132, 128, 64, 128, 1.755, _HOPPER),
    Gpu("h100", "H100 SXM", "sm_90", 3350, 132, 128, 64, 128, 1.755, _HOPPER),
    Gpu("a100", "A100 SXM 80 GB", "sm_80", 2039, 108, 64, 32, 64, 1.41,
        "NVIDIA data sheet; A100 whitepaper, 2020"),
    Gpu("rtx4090", "GeForce RTX 4090", "sm_89", 1008, 128, 128, 2, 2, 2.52,
        "NVIDIA Ada whitepaper, 2022"),
    Gpu("t4", "T4", "sm_75", 320, 40, 64, 2, 2, 1.59,
        "NVIDIA data sheet; Turing whitepaper, 2018"),
)  # fmt: skip
GPUS = {gpu.name: gpu for gpu in _ROWS}
