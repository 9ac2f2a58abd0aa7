"""How fast the emulator runs kernels, beside Numba's simulator, in one run.

    python benchmarks/emulator.py [--threads 1000000] [--simulated 4096] [--write]

Every kernel runs on Numba's own simulator (as it is, and with the block runner of `porter
verify`) with few threads, and on the emulator with many; processor time per thread counts.
Compilation is counted apart.  `--write` puts the table into docs/emulator.md.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numba
import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as simulator

from porter.emulate import launch as emulator
from porter.verify.engines.scheduler import Block

BLOCK = 256
PAGE = Path(__file__).resolve().parent.parent / "docs" / "emulator.md"
_MARK = "<!-- measured -->\n"


@cuda.jit
def saxpy(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2.5 * x[i] + y[i]


@cuda.jit
def polynomial(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        value = 0.0
        for _ in range(100):
            value = value * x[i] + y[i]
        out[i] = value


@cuda.jit
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


@cuda.jit
def histogram(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, int(x[i] * 64), 1.0)


@cuda.jit
def warp_sums(x, y, out):
    i = cuda.grid(1)
    value = x[i] * y[i] if i < x.size else 0.0
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(-1, value, step)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


#: each kernel, what its `out` must hold, and whether the simulator has what it needs
KERNELS: list[tuple[Any, Callable[..., Any], bool]] = [
    (saxpy, lambda x, y: 2.5 * x + y, True),
    (polynomial, lambda x, y: y * (x**100 - 1) / (x - 1), True),
    (histogram, lambda x, y: np.bincount((x * 64).astype(int), minlength=64), True),
    (block_sums, lambda x, y: np.add.reduceat(x * y, np.arange(0, x.size, BLOCK)), True),
    (warp_sums, lambda x, y: [np.sum(x * y)], False),
]


@dataclass(frozen=True)
class Row:
    """One kernel: seconds per thread on the two simulators (NaN where there is none)."""

    name: str
    plain: float
    quick: float
    emulated: float
    compiled: float
    whole: float

    @property
    def text(self) -> str:
        def micro(seconds: float) -> str:
            return "-" if math.isnan(seconds) else f"{seconds * 1e6:.1f}"

        def times(seconds: float) -> str:
            return "-" if math.isnan(seconds) else f"{seconds / self.emulated:,.0f}"

        cells = [f"`{self.name}`", micro(self.plain), micro(self.quick)]
        cells += [f"{self.emulated * 1e9:.1f}", times(self.plain), times(self.quick)]
        return f"| {' | '.join([*cells, f'{self.compiled:.2f}', f'{self.whole:.3f}'])} |"


def inputs(threads: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random(threads), rng.random(threads), np.zeros(max(threads, 64))


def simulated(kernel: Any, expected: Any, threads: int, manager: Any) -> float:
    """Seconds per thread on a simulator; the result is checked."""
    x, y, out = inputs(threads)
    before, simulator.BlockManager = simulator.BlockManager, manager
    try:
        started = time.process_time()
        kernel[-(-threads // BLOCK), BLOCK](x, y, out)
        seconds = time.process_time() - started
    finally:
        simulator.BlockManager = before
    check(kernel, expected(x, y), out)
    return seconds / threads


def emulated(kernel: Any, expected: Any, threads: int) -> tuple[float, float, float]:
    """Seconds per thread, for compiling, and for the whole launch; the best of three."""
    x, y, _ = inputs(threads)
    blocks, best, compiled = -(-threads // BLOCK), math.inf, 0.0
    for _ in range(3):
        out = np.zeros(max(threads, 64))
        before = emulator.TOTALS.compile_seconds
        started = time.process_time()
        emulator.launch(kernel, blocks, BLOCK, (x, y, out))
        spent = emulator.TOTALS.compile_seconds - before
        compiled = max(compiled, spent)
        best = min(best, time.process_time() - started if spent == 0 else math.inf)
        check(kernel, expected(x, y), out)
    return best / threads, compiled, best


def check(kernel: Any, expected: Any, out: Any) -> None:
    expected = np.asarray(expected)
    if not np.allclose(out[: expected.size], expected, rtol=1e-9):
        raise SystemExit(f"{kernel.fn.__name__} is wrong")


def measure(threads: int, few: int) -> list[Row]:
    rows = []
    stock = simulator.BlockManager
    for kernel, expected, both in KERNELS:
        plain = simulated(kernel, expected, few, stock) if both else math.nan
        quick = simulated(kernel, expected, few, Block) if both else math.nan
        row = Row(kernel.fn.__name__, plain, quick, *emulated(kernel, expected, threads))
        rows.append(row)
        print(row.text, flush=True)
    return rows


def page(rows: list[Row], threads: int, few: int) -> str:
    head = [
        "| kernel | Numba's simulator, us a thread | with porter's block runner"
        " | emulator, ns a thread | times faster | than the runner | compile, s | launch, s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    load = os.getloadavg()[0]
    tail = (
        f"\nBlocks of {BLOCK} threads; {threads:,} threads on the emulator, {few:,} on the"
        f" simulators; {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {load:.1f}, Python"
        f" {platform.python_version()}, numba {numba.__version__}."
    )
    return "\n".join([*head, *(row.text for row in rows), tail, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1_000_000)
    parser.add_argument("--simulated", type=int, default=4096)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = page(measure(options.threads, options.simulated), options.threads, options.simulated)
    if options.write:
        before = PAGE.read_text("utf-8").split(_MARK)[0]
        PAGE.write_text(f"{before}{_MARK}\n{text}", "utf-8")


if __name__ == "__main__":
    main()
