"""What Numba finds of CUDA on this machine: the compiler, the driver and the devices.

These are the lines of `numba -s` on which it depends where kernels compile and run.  Each is read
by itself, because Numba's packages differ in which of them they can tell without a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: where Linux's driver says which release it is
_RELEASE = Path("/proc/driver/nvidia/version")


def facts(cuda: Any) -> dict[str, Any]:
    """What `cuda`, Numba's module, knows of the compiler, the driver and the devices.

    The keys are `implementation` (NVIDIA or Built-in), `compiler`, `driver` and `devices`; what
    cannot be told is None.  `problem` of the driver says in one line why no device can be used.
    """
    problem = _problem(cuda)
    return {
        "implementation": str(getattr(cuda, "implementation", "Built-in")),
        "compiler": _compiler(),
        "driver": {
            "cuda": None if problem else _reported(_driver_cuda),
            "release": _reported(lambda: release(_RELEASE.read_text("utf-8", "replace"))),
            "problem": problem,
        },
        "devices": [] if problem else [_device(device) for device in cuda.gpus],
    }


def release(text: str) -> str | None:
    """The release of the driver, such as 580.95.05, in what Linux's kernel says of it."""
    found = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+)+)\b", text)
    return found[1] if found else None


def _problem(cuda: Any) -> str | None:
    """Why no device can be used, in one line; None where one can."""
    if cuda.is_available():
        return None
    said = str(_reported(lambda: cuda.cuda_error()) or "")
    # the first sentence says what is missing, the rest how to look for it
    first = next((line.strip() for line in said.splitlines() if line.strip()), "")
    return first.rstrip(".:") or "no CUDA device can be used"


def _driver_cuda() -> str:
    # fails where there is no driver or toolkit
    from numba.cuda.cudadrv.driver import driver

    return ".".join(str(n) for n in driver.get_version())


def _compiler() -> dict[str, Any]:
    """The version of CUDA that the compiler belongs to, of its NVVM IR, and where it lies."""
    return {
        "cuda": _reported(_toolkit),
        "nvvm": _reported(_nvvm),
        "at": _reported(_place),
    }


def _toolkit() -> str:
    # fails where there is no driver or toolkit
    from numba.cuda.cudadrv.runtime import runtime

    return ".".join(str(n) for n in runtime.get_version())


def _nvvm() -> str:
    # fails where there is no driver or toolkit
    from numba.cuda.cudadrv.nvvm import NVVM

    return ".".join(str(n) for n in NVVM().get_ir_version()[:2])


def _place() -> str | None:
    # fails where there is no driver or toolkit
    from numba.cuda.cuda_paths import get_cuda_paths

    found = get_cuda_paths()["nvvm"].info
    return str(Path(found).parent) if found else None


def _device(device: Any) -> dict[str, Any]:
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    major, minor = device.compute_capability
    memory = _reported(lambda: _memory(device)) or (None, None)
    return {
        "name": name,
        "compute_capability": f"{major}.{minor}",
        "memory_free": memory[0],
        "memory": memory[1],
    }


def _memory(device: Any) -> tuple[int, int]:
    """Bytes that are free and that there are; takes a context, as any program on it does."""
    with device:
        free, total = device.get_primary_context().get_memory_info()
    return int(free), int(total)


def _reported(ask: Callable[[], Any]) -> Any:
    """What Numba answers; None where it cannot, for whatever reason."""
    try:
        return ask()
    except Exception:
        return None
