"""Numba's own `numba.cuda` in the place of numba-cuda-mlir, which has no simulator.

Kernels are the same text for both; that numba-cuda-mlir compiles them is not shown.
"""

from __future__ import annotations

import re
import sys
import types

#: what the evidence says of a verification with it
SAID = "numba.cuda stands in for numba-cuda-mlir"
_IMPORT = re.compile(r"^\s*(from|import) numba_cuda_mlir\b", re.M)


def needed(text: str) -> bool:
    """Whether a module's text imports numba-cuda-mlir."""
    return _IMPORT.search(text) is not None


def install() -> None:
    """Let `from numba_cuda_mlir import cuda` give `numba.cuda`, be it installed or not."""
    # start-up: few modules import numba-cuda-mlir
    import numba
    from numba import cuda

    module = types.ModuleType("numba_cuda_mlir")
    vars(module).update(cuda=cuda, types=numba.types, __path__=[])
    sys.modules["numba_cuda_mlir"] = module
    sys.modules["numba_cuda_mlir.cuda"] = cuda
    sys.modules["numba_cuda_mlir.types"] = numba.types
