"""NumPy in the place of CuPy, where a module is verified without a GPU.

It shows that the module asks for the right functions with the right arrays; that CuPy
computes what NumPy does is not shown.
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import numpy as np
from numba import cuda

#: what the evidence says of a verification with it
SAID = "NumPy's functions stand in for CuPy's"

_FUNCTIONS = (
    "argsort",
    "ascontiguousarray",
    "dot",
    "einsum",
    "inner",
    "matmul",
    "sort",
    "tensordot",
)


def needed(text: str) -> bool:
    """Whether a module's text imports CuPy."""
    return "\nimport cupy" in text


def install() -> None:
    """Let `import cupy` find NumPy's functions under CuPy's name."""
    module = types.ModuleType("cupy")
    module.__dict__.update(
        {name: getattr(np, name) for name in _FUNCTIONS},
        linalg=np.linalg,
        fft=np.fft,
        asarray=_asarray,
        cuda=types.SimpleNamespace(
            ExternalStream=lambda handle: contextlib.nullcontext(),
            Stream=types.SimpleNamespace(null=contextlib.nullcontext()),
        ),
    )
    sys.modules["cupy"] = module
    if not hasattr(cuda, "as_cuda_array"):
        # the simulator: its arrays are NumPy's, and a stream is no handle
        cuda.as_cuda_array = getattr(cuda.to_device, "__wrapped__", cuda.to_device)
        type(cuda.stream()).__int__ = lambda self: 0


def _asarray(array: Any) -> Any:
    if not hasattr(array, "copy_to_host"):
        return np.asarray(array)
    # no copy of the module's own: it is not noted on which stream
    copy = type(array).copy_to_host
    return getattr(copy, "__wrapped__", copy)(array)
