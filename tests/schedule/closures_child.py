"""Random closures of relations on the simulator or the emulator, whose panels are short.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.
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
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 4, "STRIP": 2, "TILE": 2, "MAX_BLOCKS": 3},
    {"THREADS": 4, "MANY_THREADS": 4, "BLOCK_X": 2, "TILE": 4, "EACH": 2, "LARGE": 1, "LONG": 2},
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 3, "STRIP": 1, "TILE": 2, "ALONE": -1},
)
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13)
#: loops over elements, which read what they have stored
EACH = "for i in range(n):\n            for j in range(n):\n                "
#: what turn k does with u (n x m, at least as wide as it is high), and a number w
TURNS = (
    "u[:] = np.minimum(u, np.add.outer(u[:, k], u[k]))",
    "u[:, :] = np.maximum(np.minimum(u[:, k, None], u[k]), u)",
    "np.minimum(u, u[:, k][:, None] * u[k], out=u)",
    "u[:] = np.maximum(u, np.add.outer(u[:, k], u[k]) - w)",
    "u[:] = np.minimum(u, np.abs(u[k] - u[:, k, None]))",
    f"{EACH}u[i, j] = min(u[i, j], u[i, k] + u[k, j])",
    f"{EACH}if u[i, k] + u[k, j] < u[i, j]:\n                    u[i, j] = u[i, k] + u[k, j]",
    f"{EACH}t = u[k, j] - u[i, k] + w\n                if u[i, j] < t:\n"
    "                    u[i, j] = t",
    f"{EACH}u[i, j] = max(u[i, j], min(u[i, k], u[k, j]))",
    "u[:] = np.minimum(u, u[:, k, None] + u[k] + k)",
    # these take a term once, or need more than a row and a column
    f"{EACH}u[i, j] = u[i, j] + u[i, k] * u[k, j] // 8",
    f"{EACH}u[i, j] = min(u[i, j], u[i, k] + u[k, j] + u[k, k])",
    "u += np.outer(u[:, k], u[k]) // 8",
    "u[:] = np.minimum(u, u[:, k, None] + u[k, k])",
    "u[1:] = np.minimum(u[1:], np.add.outer(u[1:, k], u[k]))",
)
RELATIONS = (
    "u |= u[:, k][:, None] & u[k]",
    "u[:] = np.logical_or(u, np.logical_and.outer(u[:, k], u[k]))",
    "u &= u[:, k, None] | u[k]",
    f"{EACH}u[i, j] = u[i, j] or (u[i, k] and u[k, j])",
    f"{EACH}u[i, j] |= u[i, k] & u[k, j]",
)


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some shapes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        dtype = rng.choice(("float64", "float32", "int64", "int32", "bool"))
        table = RELATIONS if dtype == "bool" else TURNS
        body = table[rng.randrange(len(table)) if number % 2 else number // 2 % len(table)]
        head = f"range({rng.choice('001')}, n - {rng.choice('001')})"
        source = (
            "import numpy as np\n\n\ndef f(x, w):\n    n, m = x.shape\n    u = x.copy()\n"
            f"    for k in {head}:\n        {body}\n    return u\n"
        )
        calls: list[tuple[Any, ...]] = []
        for n in rng.sample(SIZES, 4):
            shape = (n, n + rng.choice((0, 0, 0, 3)))
            if dtype == "bool":
                given = numbers.random(shape) < 2 / (n + 1)
            else:
                given = numbers.integers(-2, 30, shape).astype(dtype)
                if dtype.startswith("f") and n and rng.random() < 0.3:
                    place = tuple(numbers.integers(0, shape))
                    given[place] = rng.choice((np.nan, np.inf, -np.inf, -0.0))
            calls.append((given, 2))
        yield Program(
            source, (Parameter("x", dtype, ("n", "m")), Parameter("w", "int64", None)), tuple(calls)
        )


def constants(number: int) -> tuple[dict[str, int], dict[str, int]]:
    """Those of the module for a program: none, one or two turns at least come after the panels."""
    last = {"LAST_TURNS": number % 3}
    return BLOCKS[number % len(BLOCKS)] | last, last


def main() -> int:
    """Run so many of them; many have panels."""
    return run(programs, constants, "panels = ", "have panels", 0.3)


if __name__ == "__main__":
    sys.exit(main())
