"""Random loops whose turns need their number, and factorisations, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result, and
fails where few of the programs read the number in memory.  No loop is taken by one block.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.child_runs import run

BLOCKS = {"THREADS": 8, "BLOCK_X": 4, "MAX_BLOCKS": 3, "ALONE": -1}
OWN = {"ALONE": -1}
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13)
#: what a turn does with its number `t`; arrays are n x n, `w` has n elements
TURNED = (
    "u[0, :] = w[t]\n        u[1:, :] = 0.5 * (u[1:, :] + u[:-1, :])",
    "u[t] = u[t] * 0.5 + w\n        u[:, t] -= w * 0.25",
    "u[t + 1:, t + 1:] -= 0.125 * np.outer(u[t + 1:, t], u[t, t + 1:])",
    "u[:t + 1] *= 0.5\n        u[t:] += w[t]",
    "u = 0.5 * u + t\n        w[t] = u[0, t]",
    "out[t] = (u * u).sum()\n        u[:] = u * w[t] + 0.5",
    "u[:, :t] = u[:, :t] * w[t] + t\n        out[t] = u[t].max()",
    "u[t:, 0] = u[t:, 0] * 0.5 + w[t:]\n        v = u * 0.5\n        u[1:] = v[:-1]",
)
#: factorisations of u, over elements (i, j) whose sums have j or i terms
FACTORS = (
    "for j in range({lo}, i):\n            u[i, j] {op} u[i, :j] @ u[:j, j]\n"
    "            u[i, j] /= u[j, j]\n"
    "        for j in range(i, n):\n            u[i, j] {op} u[i, :i] @ u[:i, j]",
    "for j in range({lo}, i):\n            u[i, j] {op} u[i, :j] @ u[j, :j]\n"
    "            u[i, j] /= u[j, j]\n"
    "        u[i, i] {op} u[i, :i] @ u[i, :i]\n        u[i, i] = np.sqrt(np.abs(u[i, i]))",
    "for j in range(i + 1):\n            s = u[i, j]\n            for k in range({lo}, j):\n"
    "                s {op} L[i, k] * L[j, k]\n            if i == j:\n"
    "                L[i, j] = np.sqrt(np.abs(s))\n            else:\n"
    "                L[i, j] = s / L[j, j]",
    "for j in range(n):\n            L[i, j] = (u[i, j] - u[i, :i] @ L[:i, j]) / u[i, i]",
    "for j in range(i, n):\n            u[i, j] {op} L[i, :i] @ u[:i, j]\n"
    "        for j in range(i + 1, n):\n"
    "            L[j, i] = (u[j, i] - L[j, :i] @ u[:i, i]) / u[i, i]",
    "L[i, i] = 0.5\n        for j in range(i + 1, n):\n"
    "            L[j, i] = (u[j, i] - L[j, {lo}:i] @ L[i, {lo}:i]) * 0.5",
)


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some sizes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        dtype = rng.choice(("float64", "float64", "float32"))
        kind, which = number % 2, number // 2
        lo = rng.choice(("0", "0", "1"))
        if kind:
            head = f"for i in range({rng.choice(('0', '0', '1'))}, n):"
            body = FACTORS[which % len(FACTORS)].format(lo=lo, op=rng.choice(("-=", "+=")))
        else:
            head = f"for t in range({lo}, n - {rng.choice('01')}):"
            body = TURNED[which % len(TURNED)]
        source = (
            "import numpy as np\n\n\ndef f(x, y):\n    n = x.shape[0]\n    u = x.copy()\n"
            "    w = y.copy()\n    L = np.zeros_like(x)\n    out = np.zeros_like(y)\n"
            f"    {head}\n        {body}\n    return u, w, L, out\n"
        )
        calls: list[tuple[Any, ...]] = []
        for _ in range(3):
            n = rng.choice(SIZES)
            matrix = numbers.uniform(-1, 1, (n, n)) / (n + 1) + 2 * np.eye(n)
            calls.append((matrix.astype(dtype), numbers.uniform(0.25, 0.75, n).astype(dtype)))
        taken = (Parameter("x", dtype, ("n", "n")), Parameter("y", dtype, ("n",)))
        yield Program(source, taken, tuple(calls))


def main() -> int:
    """Run so many of them; most read the number of the turn."""
    return run(programs, lambda _: (BLOCKS, OWN), "f_next_step", "read the number of the turn")


if __name__ == "__main__":
    sys.exit(main())
