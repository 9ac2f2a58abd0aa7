"""Has porter's children take Numba's simulator for a GPU: all of `--on gpu` but the driver.

Python imports this file at its start where the folder is on PYTHONPATH.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any


class _LaunchConfiguration:
    """What `kernel[grid, block]` is on a GPU."""

    def __init__(self, kernel: Any, configuration: Any) -> None:
        self.dispatcher, self._configuration = kernel, configuration
        configured = _PLAIN(kernel, configuration)
        self.griddim, self.blockdim = configured.grid_dim, configured.block_dim

    def __call__(self, *args: Any) -> None:
        if "lost" in self.dispatcher.fn.__name__:
            raise CudaAPIError(700, "Call to cuCtxSynchronize results in ILLEGAL_ADDRESS")
        _PLAIN(self.dispatcher, self._configuration)(*args)


class CudaAPIError(Exception):
    """The driver's error."""

    def __str__(self) -> str:
        return f"[{self.args[0]}] {self.args[1]}"


class _Event:
    def record(self, stream: int = 0) -> None:
        """Nothing is under way when a launch returns."""

    def synchronize(self) -> None:
        """Nothing is waited for."""

    def elapsed_time(self, end: Any) -> float:
        """Half a millisecond for each launch."""
        return 0.5


def _configured(kernel: Any, configuration: Any) -> Any:
    return _LaunchConfiguration(kernel, configuration)


def _install() -> None:
    global _PLAIN
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    from numba import cuda
    from numba.cuda.simulator.cudadrv.devices import FakeCUDAContext, FakeCUDADevice
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    _PLAIN = FakeCUDAKernel.__getitem__
    FakeCUDAKernel.__getitem__ = _configured
    FakeCUDAKernel.py_func = property(lambda self: self.fn)
    dispatcher = types.ModuleType("numba.cuda.dispatcher")
    dispatcher._LaunchConfiguration = _LaunchConfiguration
    sys.modules["numba.cuda.dispatcher"] = dispatcher
    FakeCUDAContext.name = FakeCUDADevice.name = b"a stand-in"
    cuda.event = _Event
    FakeCUDAContext.__hash__ = None
    from porter.verify.engines.gpu import Gpu

    Gpu.large = False  # the simulator has no time for a million threads


if any(name in sys.orig_argv for name in ("porter.verify.sim_child", "porter.verify.probe_child")):
    _install()
