"""Random loops and statements that change what they read, on the simulator or the emulator.

In loops, one iteration stores what the others read.  Array statements read rows, columns and
elements of what they store.  Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.child_runs import run

BLOCKS = (
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 4, "MAX_BLOCKS": 3},
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 4, "MAX_BLOCKS": 3, "ALONE": -1},
)
SHAPES = ((0, 3), (1, 1), (2, 2), (3, 1), (1, 4), (4, 4), (5, 5), (3, 6), (7, 5), (9, 9))
#: what an iteration does with u[i, j]; p and q are a column and a row
BODIES = (
    "u[i, j] = min(u[i, j], u[i, p] + u[q, j])",
    "if u[i, p] + u[q, j] < u[i, j]:\n                u[i, j] = u[i, p] + u[q, j]",
    "t = u[q, j] - u[i, p]\n"
    "            if t > u[i, j] or w[i, j] > 2:\n                u[i, j] = t",
    "u[i, j] = u[i, j] // 2 + u[q, j] - u[q, p]",
    "u[i, j] -= u[q, p]",
    "if i != q:\n                u[i, j] = u[i, j] - u[i, p] * u[q, j]",
    "u[i, j] = max(u[i, p], w[i, j])",
    "u[i, j] = u[q, j] + w[j % n, 0] if w[i, j] > 0 else u[i, p]",
    "u[i, j] += u[q, j] - w[q, p]",
    # not known from old elements
    "u[i, j] = u[i, p] - u[max(i - 1, 0), j]",
    "u[i, j] = u[q, i % m] + 1",
)
STATEMENTS = (
    "u -= u[q]",
    "u[:, :] = np.minimum(u, np.add.outer(u[:, p], u[q]))",
    "u[1:] += u[q] * u[q, p]",
    "u[:, 1:] -= u[:, p:p + 1]",
    "u[:] = np.where(u > u[q], u, u[:, p:p + 1] - w)",
    "u[u > u[q]] = 1",
    "u[:-1, :-1] = u[1:, p:p + 1] + u[q, 1:]",
    "u *= u[q, p] - w",
    "u[:] = u[::-1] + u[q]",
)
#: a column and a row, the range of the loops over turns around them, and of those over elements
PLACES = (
    ("k", "k"),
    ("k", "k"),
    ("k", "k"),
    ("0", "0"),
    ("0", "k"),
    ("m - 1", "0"),
    ("k", "n // 2"),
)
STARTS = ("0", "0", "0", "0", "0", "0", "1", "k")


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some shapes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        dtype = rng.choice(("float64", "float64", "float32", "int64", "int32"))
        p, q = rng.choice(PLACES)
        if number % 3 == 2:
            body = STATEMENTS[number // 3 % len(STATEMENTS)]
        else:
            body = BODIES[(number - number // 3) % len(BODIES)]
            i, j = rng.choice(STARTS), rng.choice(STARTS)
            body = f"for i in range({i}, n):\n          for j in range({j}, m):\n            {body}"
        turns = rng.choice(("min(n, m)", "min(n, m)", "min(n, m, 1)"))
        source = (
            "import numpy as np\n\n\ndef f(x, w):\n    n, m = x.shape\n    u = x.copy()\n"
            f"    for k in range({turns}):\n        p, q = {p}, {q}\n        {body}\n    return u\n"
        )
        calls: list[tuple[Any, ...]] = []
        for shape in rng.sample(SHAPES, 4):
            high = 0.9 if dtype.startswith("f") else 5
            given = [numbers.uniform(-high, high, shape) for _ in "xw"]
            calls.append(tuple(np.round(g, 3).astype(dtype) for g in given))
        taken = (Parameter("x", dtype, ("n", "m")), Parameter("w", dtype, ("n", "m")))
        yield Program(source, taken, tuple(calls))


def constants(number: int) -> tuple[dict[str, int], dict[str, int]]:
    """Those of the module for a program: one block runs the loops, or launches do."""
    small = BLOCKS[number % len(BLOCKS)]
    return small, {"ALONE": small["ALONE"]} if "ALONE" in small else {}


def main() -> int:
    """Run so many of them; in many, something is computed or copied first."""
    return run(programs, constants, "u_", "compute or copy something first", 0.35)


if __name__ == "__main__":
    sys.exit(main())
