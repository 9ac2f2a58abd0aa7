"""How many warps of a kernel one multiprocessor can hold, by the rules of NVIDIA's headers.

The limits are those of CCCL's `cuda/__device/arch_traits.h` (nvidia-cuda-cccl 13.3), the rules
of rounding those of `cuda_occupancy.h` (nvidia-cuda-runtime 13.5);
`tests/verify/compile/test_occupancy.py` compares this file with that header.
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
_REGISTERS = 65536  # of a multiprocessor, and of a block at most
_MOST_REGISTERS = 255  # of a thread
_PARTITIONS = 4  # of a multiprocessor; registers are handed out in each
_REGISTER_UNIT = 256  # registers of a warp are rounded up to
_STATIC = 48 * 1024  # bytes of shared memory of a block that asks for no more at its launch


@dataclass(frozen=True)
class Architecture:
    """Limits of one multiprocessor; `shared` is in bytes."""

    capability: tuple[int, int]
    threads: int
    blocks: int
    shared: int

    @property
    def reserved(self) -> int:
        """Bytes of shared memory that the driver takes of every block."""
        return 1024 if self.capability >= (8, 0) else 0

    @property
    def shared_unit(self) -> int:
        """What the shared memory of a block is rounded up to."""
        return 128 if self.capability >= (8, 0) else 256


_K = 1024
ARCHITECTURES: dict[str, Architecture] = {
    "sm_75": Architecture((7, 5), 1024, 16, 64 * _K),
    "sm_80": Architecture((8, 0), 2048, 32, 164 * _K),
    "sm_86": Architecture((8, 6), 1536, 16, 100 * _K),
    "sm_87": Architecture((8, 7), 1536, 16, 164 * _K),
    "sm_88": Architecture((8, 8), 1536, 16, 100 * _K),
    "sm_89": Architecture((8, 9), 1536, 24, 100 * _K),
    "sm_90": Architecture((9, 0), 2048, 32, 228 * _K),
    "sm_100": Architecture((10, 0), 2048, 32, 228 * _K),
    "sm_103": Architecture((10, 3), 2048, 32, 228 * _K),
    "sm_110": Architecture((11, 0), 1536, 24, 228 * _K),
    "sm_120": Architecture((12, 0), 1536, 24, 100 * _K),
    "sm_121": Architecture((12, 1), 1536, 24, 100 * _K),
}
#: what is compiled for if no architectures are asked for
USUAL = ("sm_75", "sm_80", "sm_90")


def blocks_per_sm(arch: str, threads: int, registers: int, shared: int) -> int:
    """How many blocks one multiprocessor holds; 0 if not even one can be launched.

    `registers` are those of a thread, `shared` the bytes of a block.
    """
    limits = ARCHITECTURES[arch]
    warps = -(-threads // WARP)
    memory = _up(shared + limits.reserved, limits.shared_unit)
    if threads > 1024 or registers > _MOST_REGISTERS or memory > _STATIC + limits.reserved:
        return 0
    each = _up(registers * WARP, _REGISTER_UNIT)
    # what the hardware checks of a block, as if all partitions got as many warps
    if each * _up(warps, _PARTITIONS) > _REGISTERS:
        return 0
    found = [limits.blocks, limits.threads // WARP // warps]
    if each:
        found.append(_REGISTERS // _PARTITIONS // each * _PARTITIONS // warps)
    if memory:
        found.append(limits.shared // memory)
    return min(found)


def occupancy(arch: str, threads: int, registers: int, shared: int) -> float:
    """The share of a multiprocessor's warps that blocks of a kernel can fill."""
    warps = -(-threads // WARP)
    resident = warps * blocks_per_sm(arch, threads, registers, shared)
    return resident * WARP / ARCHITECTURES[arch].threads


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
