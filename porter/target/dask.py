"""Dask's arrays: functions of blocks that Numba compiles, and a host function that is lazy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from porter.schedule.base import Schedule
from porter.schedule.chunked.check import check_chunks
from porter.schedule.chunked.serial import SERIAL, SerialRows
from porter.schedule.nodes import Plan
from porter.schedule.schedules.elementwise import Elementwise
from porter.target.base import Call
from porter.target.cuda import Cuda
from porter.target.loops import Loops

#: what `--dask-blocks` takes
BLOCKS = ("cpu", "cuda")


_TITLE = "Functions of Dask's arrays for the NumPy functions of"


@dataclass(frozen=True)
class Dask(Loops):
    """Arrays in chunks; a block is the work of one thread of the CPU."""

    name = "dask"
    title = _TITLE
    templates = "dask"
    kernels = "block functions"
    chunked = True
    host_products = False
    compiles_loops = False
    packages = frozenset({"intrinsic", "ir", "njit"})
    sizes: ClassVar[Mapping[str, tuple[str, str]]] = {}
    schedules: ClassVar[Sequence[Schedule]] = (SerialRows(), SERIAL)
    block: ClassVar[Schedule] = SERIAL

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch has no chunked form."""
        check_chunks(plan, self.block)

    def result(self, array: str, where: str, options: str = "", *, scalar: bool = False) -> Call:
        """The array of a block."""
        return Call(array)


@dataclass(frozen=True)
class DaskCuda(Cuda):
    """The same; a block goes to the device and back, and a thread has one element of it."""

    name = "dask"
    title = _TITLE
    kernels = "block functions"
    chunked = True
    device = False
    engines = ("simulator", "ptx", "gpu")
    keeps = False
    solvers = False
    schedules: ClassVar[Sequence[Schedule]] = (SerialRows(), SERIAL)
    block: ClassVar[Schedule] = Elementwise()

    def replays(self) -> bool:
        """Its host functions have no loops around launches alone."""
        return False

    @property
    def full_name(self) -> str:
        """With what the block functions are."""
        return f"{self.name} kernels"

    def check(self, plan: Plan) -> None:
        """Raise Refusal where a launch has no chunked form."""
        check_chunks(plan, self.block)

    def empty(self, shape: str, dtype: str) -> str:
        """`cuda.device_array`."""
        return f"cuda.device_array({shape}, {dtype})"

    def copied(self, array: str) -> str:
        """`cuda.to_device`."""
        return f"cuda.to_device({array})"

    def launch(
        self, kernel: str, grid: str, block: str, arguments: Sequence[str], room: str = ""
    ) -> str:
        """Numba's launch on the default stream."""
        return f"{kernel}[{grid}, {block}]({', '.join(arguments)})"

    def moved(self, array: str) -> Call:
        """A block on the device."""
        return Call(f'cuda.to_device(np.asarray({array}, order="C"))')

    def fetched(self, array: str) -> Call:
        """An array of the device on the host."""
        return Call(f"{array}.copy_to_host()")

    def result(self, array: str, where: str, options: str = "", *, scalar: bool = False) -> Call:
        """The result for a block, on the host."""
        return Call(f"{array}.copy_to_host()")
