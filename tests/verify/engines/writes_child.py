"""Runs kernels of `race_kernels` on porter's simulator; prints what each raised, as JSON.

NUMBA_ENABLE_CUDASIM=1 python -m tests.verify.engines.writes_child KERNEL...
"""

from __future__ import annotations

import json
import sys

import numpy as np
from numba import cuda

from porter.verify.engines.simulator import install
from tests.support import race_kernels


@cuda.jit
def flag(x, out):
    if x[cuda.grid(1)] >= 0:
        out[0] = 1


@cuda.jit
def handed_on(x, out):
    i = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        out[i] = x[i]
        cuda.syncthreads()
        out[-1 - (out.size - 1 - (i + 1) % 64)] = x[i] * 2
    else:
        cuda.syncthreads()


@cuda.jit
def locked(x, out):
    while cuda.atomic.cas(x, 0, 0, 1) != 0:
        pass
    out[0] += 1
    cuda.atomic.exch(x, 0, 0)


def main() -> None:
    install()
    said = {}
    for name in sys.argv[1:]:
        kernel = globals().get(name) or getattr(race_kernels, name)
        x = np.linspace(0, 0.99, 2 * race_kernels.N).astype(np.float32)
        x = x.astype(np.int64) if name == "locked" else x
        try:
            kernel[2, race_kernels.N](x, np.zeros(2 * race_kernels.N, np.float32))
            said[name] = ""
        except Exception as error:
            said[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(said))


if __name__ == "__main__":
    main()
