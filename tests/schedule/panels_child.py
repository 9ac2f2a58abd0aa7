"""Random eliminations and factorisations on the simulator or the emulator, whose panels are short.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result, and
fails where few of the programs have panels.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.child_runs import run
from tests.schedule.steps_child import FACTORS

BLOCKS = (
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 4, "STRIP": 2, "TILE": 2, "MAX_BLOCKS": 3},
    {"THREADS": 4, "MANY_THREADS": 4, "BLOCK_X": 2, "STRIP": 4, "TILE": 4, "EACH": 2, "LARGE": 1},
    {"THREADS": 8, "MANY_THREADS": 8, "BLOCK_X": 3, "STRIP": 1, "TILE": 2, "ALONE": -1},
)
#: a warp and a row of tiles, and one more and one less
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 17)
#: rows and columns beyond the turns
WIDER = ((0, 0), (0, 0), (0, 3), (2, 0))
#: what turn k does with u (m x p), w (m elements) and L (m x p); some are no eliminations
TURNS = (
    "u[k + 1:, k] /= u[k, k]\n        u[k + 1:, k + 1:] -= np.outer(u[k + 1:, k], u[k, k + 1:])",
    "for i in range(k + 1, m):\n            f = u[i, k] / u[k, k]\n"
    "            u[i, k:] -= f * u[k, k:]\n            w[i] -= f * w[k]",
    "for i in range(k + 1, m):\n            f = u[i, k] / u[k, k]\n"
    "            for j in range(k, p):\n                u[i, j] -= f * u[k, j]\n"
    "            w[i] -= f * w[k]",
    "for i in range(k + 1, m):\n            L[i, k] = u[i, k] / u[k, k]\n"
    "            for j in range(k + 1, p):\n                u[i, j] -= L[i, k] * u[k, j]",
    "u[k, k] = np.sqrt(np.abs(u[k, k]))\n        u[k + 1:, k] /= u[k, k]\n"
    "        for j in range(k + 1, min(m, p)):\n            u[j:, j] -= u[j:, k] * u[j, k]",
    "u[k, k] = np.sqrt(np.abs(u[k, k]))\n        u[k, k + 1:] /= u[k, k]\n"
    "        for j in range(k + 1, min(m, p)):\n            for i in range(k + 1, j + 1):\n"
    "                u[i, j] -= u[k, i] * u[k, j]",
    "u[k, k + 1:] *= 0.5\n        w[k] = u[k, k] + 1.0\n"
    "        u[k + 1:, k + 1:] += w[k] * np.outer(u[k + 1:, k], u[k, k + 1:])",
    "u[k + 1:, k] /= u[k, k]\n        d[0] = d[0] * u[k, k] + 0.5\n"
    "        u[k + 1:, k + 1:] -= np.outer(u[k + 1:, k], u[k, k + 1:])",
    "for i in range(k + 1, m):\n            if u[i, k] > 0.0:\n"
    "                f = u[i, k] / u[k, k]\n"
    "                u[i, k + 1:] = u[i, k + 1:] - f * u[k, k + 1:]\n"
    "                w[i] = w[i] - f * w[k]\n                u[i, k] = f",
    "for i in range(k + 1, m):\n            f = 0.25\n            if u[i, k] > 0.0:\n"
    "                f = u[i, k] / u[k, k]\n            for j in range(k + 1, p):\n"
    "                u[i, j] -= f * u[k, j]",
    # the row that others needed changes after them
    "u[k + 1:, k + 1:] -= 0.25 * np.outer(u[k + 1:, k], u[k, k + 1:])\n        u[k, k + 1:] *= 2.0",
    "u[k + 1:, k] = w[k + 1:] * u[k, k]\n"
    "        u[k + 1:, k + 1:] -= 0.125 * np.outer(u[k + 1:, k], u[k, k + 1:])\n"
    "        w[k + 1:] *= 0.5",
    "u[k:, k + 1:] -= 0.125 * np.outer(u[k:, k], u[k, k + 1:])",
    "for i in range(k + 1, min(m, p)):\n            for j in range(k + 1, min(m, p)):\n"
    "                u[i, j] -= 0.125 * u[k, i] * u[j, k]",
)


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some sizes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        dtype = rng.choice(("float64", "float64", "float32"))
        wider = rng.choice(WIDER)
        if number % 3 == 2:
            wider = (0, 0)
            which = FACTORS[number // 3 % len(FACTORS)]
            body = which.format(lo=rng.choice(("0", "0", "1")), op=rng.choice(("-=", "+=")))
            head = f"for i in range({rng.choice(('0', '0', '1'))}, n):"
        else:
            body = TURNS[(number - number // 3) % len(TURNS)]
            head = f"for k in range({rng.choice(('0', '0', '1'))}, n - {rng.choice('01')}):"
        source = (
            "import numpy as np\n\n\ndef f(x, y):\n    m, p = x.shape\n    n = min(m, p)\n"
            "    u = x.copy()\n    w = y.copy()\n    L = np.zeros_like(x)\n    d = np.ones(1)\n"
            f"    {head}\n        {body}\n    return u, w, L, d\n"
        )
        calls: list[tuple[Any, ...]] = []
        for n in rng.sample(SIZES, 3):
            m, p = n + wider[0], n + wider[1]
            matrix = numbers.uniform(-1, 1, (m, p)) / (n + 1)
            matrix[range(n), range(n)] += 2
            calls.append((matrix.astype(dtype), numbers.uniform(0.25, 0.75, m).astype(dtype)))
        taken = (Parameter("x", dtype, ("m", "p")), Parameter("y", dtype, ("m",)))
        yield Program(source, taken, tuple(calls))


def constants(number: int) -> tuple[dict[str, int], dict[str, int]]:
    """Those of the module for a program: none, one or two turns at least come after the panels."""
    last = {"LAST_TURNS": number % 3}
    return BLOCKS[number % len(BLOCKS)] | last, last


def main() -> int:
    """Run so many of them; most have panels."""
    return run(programs, constants, "panels = ", "have panels")


if __name__ == "__main__":
    sys.exit(main())
