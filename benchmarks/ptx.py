"""How fast the PTX machine runs compiled kernels, on one core.

    python benchmarks/ptx.py [--threads 262144] [--check]

Every kernel is compiled by numba-cuda, which needs no GPU, and runs over a grid of some thousand
threads and more; processor time counts.  A thread-instruction is one instruction of one thread.
With `--check`, less than 20 million of them a second over all kernels gives exit code 1.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import cuda

from porter.ptx.machine.counts import Counts
from porter.ptx.machine.launch import launch
from porter.ptx.machine.task import Code
from porter.verify.compile.backends import backend
from porter.verify.engines.launches import argument_type

BLOCK = 256
LEAST = 20e6


def saxpy(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2.5 * x[i] + y[i]


def polynomial(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        value = x.dtype.type(0)
        for _ in range(100):
            value = value * x[i] + y[i]
        out[i] = value


def exponentials(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.exp(-x[i] * x[i]) * math.sin(y[i])


def block_sums(x, y, out):
    held = cuda.shared.array(BLOCK, numba.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    held[t] = x[i] * y[i] if i < x.size else 0.0
    cuda.syncthreads()
    width = BLOCK // 2
    while width > 0:
        if t < width:
            held[t] += held[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = held[0]


def escape(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b, n = x.dtype.type(0), x.dtype.type(0), 0
        while n < 50 and a * a + b * b < 4:
            a, b = a * a - b * b + x[i], (a + a) * b + y[i]
            n += 1
        out[i] = n


def histogram(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, int(x[i] * 64), 1)


KERNELS: list[tuple[Callable[..., None], Callable[..., Any] | None]] = [
    (saxpy, lambda x, y: 2.5 * x + y),
    (polynomial, lambda x, y: y * (x**100 - 1) / (x - 1)),
    (exponentials, lambda x, y: np.exp(-x * x) * np.sin(y)),
    (block_sums, lambda x, y: np.add.reduceat(x * y, np.arange(0, x.size, BLOCK))),
    (escape, None),
    (histogram, lambda x, y: np.bincount((x * 64).astype(int), minlength=64)),
]


def measured(
    kernel: Any, check: Any, dtype: str, threads: int, compiler: Any
) -> tuple[str, int, float]:
    """A row of the table, the instructions and the seconds."""
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.1, 0.9, threads).astype(dtype) for _ in range(2))
    out = np.zeros(threads, dtype)
    args = (x, y, out)
    ptx = compiler.ptx(kernel, [argument_type(a) for a in args], (9, 0))
    began = time.process_time()
    code = Code(ptx)
    grid = (-(-threads // BLOCK), 1, 1)
    launch(code, (1, 1, 1), (BLOCK, 1, 1), args)
    prepared = time.process_time() - began
    out[:] = 0
    began = time.process_time()
    count = launch(code, grid, (BLOCK, 1, 1), args)
    seconds = time.process_time() - began
    if check is not None:
        wanted = check(x.astype("f8"), y.astype("f8"))
        np.testing.assert_allclose(out[: wanted.size], wanted, rtol=2e-3)
    counts = Counts()
    launch(code, grid, (BLOCK, 1, 1), args, counts=counts, blocks=[0, grid[0] // 2, grid[0] - 1])
    row = (
        f"| `{kernel.__name__}` | {dtype} | {count / threads:.0f} | {counts.active:.2f} "
        f"| {count / seconds / 1e6:.0f} | {prepared:.2f} |"
    )
    return row, count, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=262_144)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    compiler = backend("numba-cuda")
    print("| kernel | dtype | instructions | active lanes | million a second | parsed in s |")
    print("|---|---|---|---|---|---|")
    total, spent = 0, 0.0
    for kernel, check in KERNELS:
        for dtype in ("float32", "float64"):
            row, count, seconds = measured(kernel, check, dtype, given.threads, compiler)
            print(row, flush=True)
            total, spent = total + count, spent + seconds
    rate = total / spent
    print(f"\n{total / 1e6:.0f} million thread-instructions, {rate / 1e6:.0f} million a second")
    return int(given.check and rate < LEAST)


if __name__ == "__main__":
    raise SystemExit(main())
