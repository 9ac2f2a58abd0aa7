"""Launches of a verification on a GPU: each checked, waited for and timed, in poisoned memory.

What a CUDA graph replays runs without that: an error shows with the next launch or copy.

Only the GPU's child imports this module, where `numba.cuda` is the real one.  A GPU checks no
index: what the original refuses with an IndexError is left to the simulator and the emulator.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numba import cuda
from numba.core.errors import NumbaError

from porter.verify.compile.backends import version
from porter.verify.engines.launches import LAUNCHES, LaunchError, check, poison


class Gpu:
    """What the launches of a verification came to on the GPU, for its evidence."""

    large = True  # as many threads as the emulator has
    checks_indices = False

    def __init__(self) -> None:
        self.watched: list[dict[str, Any]] = []
        dispatcher = importlib.import_module("numba.cuda.dispatcher")
        self._plain_launch = dispatcher._LaunchConfiguration.__call__
        self._plain_array = cuda.device_array
        gpu = self

        def launch(configured: Any, *args: Any) -> None:
            gpu.launch(configured, args)

        dispatcher._LaunchConfiguration.__call__ = launch
        cuda.device_array = self._array
        self.clear()

    def clear(self) -> None:
        """Forget what was run, for the next function."""
        self.milliseconds, self.timed, self.largest = 0.0, 0, 0

    def launch(self, configured: Any, args: tuple[Any, ...]) -> None:
        """One launch, to its end; raises `LaunchError` with what the driver or compiler says."""
        function = configured.dispatcher.py_func
        grid, block = tuple(configured.griddim), tuple(configured.blockdim)
        name = function.__name__
        check(name, grid, block)
        LAUNCHES.shape(function, block)
        first = LAUNCHES.note(function, args)
        self.largest = max(self.largest, int(np.prod([*grid, *block])))
        if _recorded(getattr(configured, "stream", None)):
            # nothing may wait for it: it runs when the graph is launched
            self._plain_launch(configured, *args)
            return
        start, end = cuda.event(), cuda.event()
        try:
            # the launch may be on a stream: this one waits for all of them
            start.record()
            self._plain_launch(configured, *args)
            end.record()
            end.synchronize()
            cuda.synchronize()
        except NumbaError as error:
            raise LaunchError(f"`{name}` cannot be compiled: {_first_line(error)}") from None
        except Exception as error:
            if not _is_drivers(error):
                raise
            raise LaunchError(f"`{name}`: {_first_line(error)}") from None
        if not first:  # the first one was compiled in between
            self.milliseconds += start.elapsed_time(end)
            self.timed += 1

    def _array(self, *args: Any, **options: Any) -> Any:
        made = self._plain_array(*args, **options)
        if made.size and made.dtype.kind in "fciub":
            made.copy_to_device(poison(np.empty(made.shape, made.dtype)))
            cuda.synchronize()
        return made

    def reason(self) -> str:
        """Why this is no evidence of a GPU's: it always is."""
        return ""

    def detail(self) -> dict[str, Any]:
        """The GPU, and how long the kernels ran that were compiled already."""
        device, own = cuda.get_current_device(), version("numba-cuda")
        name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
        return {
            "gpu": name,
            "capability": ".".join(map(str, device.compute_capability)),
            "compiler": f"numba-cuda {own}" if own else f"numba {version('numba')}",
            "largest": self.largest,
            "timed_launches": self.timed,
            "kernel_milliseconds": round(self.milliseconds, 3),
        }


def _recorded(stream: Any) -> bool:
    """Whether a graph records what is launched on a stream."""
    handle = getattr(stream, "handle", None)
    if handle is None or not int(handle):
        return False
    driver = importlib.import_module("cuda.bindings.driver")
    _, status = driver.cuStreamIsCapturing(handle)
    return bool(status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


def _is_drivers(error: BaseException) -> bool:
    """Whether the driver raised it: its classes differ from package to package."""
    kinds = [k.__name__.lower() for k in type(error).__mro__]
    return any(k.startswith("cuda") or "linker" in k or "nvvm" in k for k in kinds)
