"""The machine that the model of cost knows: a few constants, each of which can be set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Machine:
    """Rates and latencies; `[tool.porter.cost]` sets them with dashes for underscores.

    The defaults are rounded figures of a GPU of the data centre on PCI Express 4.0 with 16
    lanes (NVIDIA's data sheet of the A100: 1555 GB/s, 19.5 and 9.7 TFLOP/s; 108
    multiprocessors of 64 lanes at 1.41 GHz; the bus moves 31.5 GB/s by specification, copies
    from pageable memory get about a third), and of one
    core of a CPU.  A launch by Numba costs about 10 us.
    """

    #: GB/s between host and device, from and to pageable memory
    transfer_gb_s: float = 12.0
    #: us that each copy takes besides
    copy_us: float = 10.0
    #: GB/s of the device's memory
    device_gb_s: float = 1500.0
    #: TFLOP/s of the device in single and in double precision
    fp32_tflops: float = 15.0
    fp64_tflops: float = 7.0
    #: 10^12 PTX instructions of threads that the device executes in a second
    tera_instructions: float = 10.0
    #: us that each launch takes at least
    launch_us: float = 10.0
    #: threads that it takes to reach these rates; fewer get their share
    full_threads: float = 50_000.0
    #: GB/s and GFLOP/s of one core of the host in compiled code
    host_gb_s: float = 10.0
    host_gflops: float = 4.0


def setting_names() -> tuple[str, ...]:
    """The names of the constants as `[tool.porter.cost]` has them."""
    return tuple(f.name.replace("_", "-") for f in fields(Machine))


def machine(settings: Mapping[str, float]) -> Machine:
    """The machine with some constants set by name."""
    return Machine(**{name.replace("-", "_"): float(v) for name, v in settings.items()})
