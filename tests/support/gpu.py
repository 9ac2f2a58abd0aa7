"""Whether this machine has a GPU."""

from __future__ import annotations

import ctypes
import os
from functools import cache


@cache
def has_gpu() -> bool:
    """Whether the driver finds a device: asked of the driver, so that Numba is not imported."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 < count.value
