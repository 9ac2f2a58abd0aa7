"""Compares the machine's counts with the SASS that the driver's assembler makes of the same PTX.

    python benchmarks/ptx_sass.py --nvdisasm FILE [--ptxas FILE] [--arch sm_90]

`nvdisasm` is in the wheel `nvidia-cuda-nvdisasm`, `ptxas` in `nvidia-cuda-nvcc`.  The kernels are
straight: every instruction is executed once by each thread, so the sums over the text are the
counts of a thread.  Prints both as a table; exit code 1 when a class of `EXACT` differs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import cuda

from porter.ptx.machine.counts import Counts
from porter.ptx.machine.launch import launch
from porter.ptx.machine.task import Code
from porter.verify.compile.backends import backend
from porter.verify.compile.occupancy import ARCHITECTURES
from porter.verify.engines.launches import argument_type

THREADS = 64
#: SASS by the start of its name, and the class that it belongs to
SASS = {
    "LDG": "load", "LDS": "load", "LDL": "load", "LD.": "load", "STG": "store", "STS": "store",
    "STL": "store", "ST.": "store", "ATOM": "atomic", "RED": "atomic", "BAR": "barrier",
    "FADD": "float", "FMUL": "float", "FFMA": "float", "FMNMX": "float", "FSETP": "float",
    "DADD": "f64", "DMUL": "f64", "DFMA": "f64", "DSETP": "f64", "DMNMX": "f64",
    "MUFU": "float", "I2F": "conversion", "F2I": "conversion", "F2F": "conversion",
    "IMAD": "integer", "IADD": "integer", "LEA": "integer", "SHF": "integer", "LOP": "integer",
    "ISETP": "integer", "SEL": "integer", "IABS": "integer", "IMNMX": "integer", "PRMT": "integer",
    # a machine's `selp` is one for any type
    "FSEL": "integer",
    "VIADD": "integer", "VIMNMX": "integer", "USHF": "integer", "ULEA": "integer",
    "UIMAD": "integer", "UIADD": "integer", "ULOP": "integer", "UISETP": "integer",
    "BRA": "branch", "EXIT": "branch",
}  # fmt: skip


def saxpy(x, y, out):
    i = cuda.grid(1)
    out[i] = x.dtype.type(2.5) * x[i] + y[i]


def product(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] * y[i]


def differences(x, y, out):
    i = cuda.grid(1)
    out[i] = (x[i] - y[i]) * (x[i] - y[i])


def horner(x, y, out):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[i] = ((((a * b + a) * b + a) * b + a) * b + a) * b + a


def stencil(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] + x[i + 1] + x[i + 2] + x[i + 3] - y[i]


def distance(x, y, out):
    i = cuda.grid(1)
    a, b = x[2 * i] - y[2 * i], x[2 * i + 1] - y[2 * i + 1]
    out[i] = a * a + b * b


def shifted(x, y, out):
    held = cuda.shared.array(THREADS, numba.float64)
    i = cuda.threadIdx.x
    held[i] = x[i]
    cuda.syncthreads()
    out[i] = held[THREADS - 1 - i] + y[i]


def transposed(x, y, out):
    held = cuda.shared.array((8, 9), numba.float32)
    i = cuda.threadIdx.x
    held[i // 8, i % 8] = x[i]
    cuda.syncthreads()
    out[i] = held[i % 8, i // 8] * y[i]


def added(x, y, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, i, x[i] * y[i])


def clipped(x, y, out):
    i = cuda.grid(1)
    a = x[i]
    a = a if a > y[i] else y[i]
    out[i] = a + a


def copied(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i]
    out[i + THREADS] = y[i]


def mixed(x, y, out):
    i = cuda.grid(1)
    out[i] = (x[i] + y[i]) * x[i] + y[i] * y[i]


KERNELS: list[Callable[..., None]] = [
    saxpy, product, differences, horner, stencil, distance, shifted, transposed, added, clipped,
    copied, mixed,
]  # fmt: skip
EXACT = ("load", "store", "atomic", "barrier", "float", "f64")


def counted(ptx: str, args: tuple[Any, ...]) -> Counter[str]:
    """Instructions of a thread on the machine, by class."""
    counts = Counts()
    launch(Code(ptx), (1, 1, 1), (THREADS, 1, 1), args, counts=counts)
    return Counter({name: n // THREADS for name, n in counts.threads.items()})


def assembled(ptx: str, arch: str, ptxas: str, nvdisasm: str) -> Counter[str]:
    """Instructions of the SASS, by class; what belongs to none under its own name."""
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        text.write_text(ptx)
        subprocess.run([ptxas, f"-arch={arch}", "-o", binary, text], check=True)
        said = subprocess.run([nvdisasm, "-c", binary], check=True, capture_output=True, text=True)
    found: Counter[str] = Counter()
    for name in re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", said.stdout):
        found[next((c for start, c in SASS.items() if name.startswith(start)), name)] += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nvdisasm", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--arch", default="sm_90", choices=ARCHITECTURES)
    given = parser.parse_args()
    compiler = backend("numba-cuda")
    classes = (*EXACT, "integer")
    print("| kernel | dtype |", " | ".join(classes), "|")
    print("|---" * (len(classes) + 2) + "|")
    wrong = 0
    for function in KERNELS:
        for dtype in ("float32", "float64"):
            args = tuple(np.ones(4 * THREADS, dtype) for _ in range(3))
            types = [argument_type(a) for a in args]
            ptx = compiler.ptx(function, types, ARCHITECTURES[given.arch].capability)
            ours = counted(ptx, args)
            theirs = assembled(ptx, given.arch, given.ptxas, given.nvdisasm)
            cells = (_cell(ours[name], theirs[name]) for name in classes)
            print(f"| `{function.__name__}` | {dtype} |", " | ".join(cells), "|")
            wrong += sum(ours[name] != theirs[name] for name in EXACT)
    return int(wrong > 0)


def _cell(ours: int, theirs: int) -> str:
    return f"{ours or ''}" if ours == theirs else f"{ours}, SASS {theirs}"


if __name__ == "__main__":
    raise SystemExit(main())
