"""Random loops that carry values from one iteration to the next, on the simulator or the emulator.

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

SIZES = (0, 1, 2, 3, 5, 8, 9, 17, 33, 70)
#: numbers that the steps must get right, not only finite ones
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
CONDITIONS = ("x[i] > 0", "x[i] < y[i]", "i % 3 == 0", "y[i] == y[i]", "not x[i] > 1")
#: what an iteration does with a value v, a count n, a truth value on, and an index at
STEPS = (
    "if x[i] > v:\n            v = x[i]",
    "if {y} <= v:\n            v = {y}\n            at = i",
    "v = {y} if v < {y} else v",
    "if COND:\n            v += {y}\n        else:\n            v = {y}",
    "v += x[i]\n        if COND:\n            v = 0.5",
    "v = (1.0 if COND else v) + {y}",
    "if COND:\n            v = v - {y}\n        else:\n            v = v + 1.0",
    "if COND:\n            v = {y}",
    "if COND:\n            v = 1.0\n        elif x[i] > {y}:\n            v = v + x[i]",
    "if COND:\n            n += 1\n        else:\n            n = 0",
    "n += 2\n        if COND:\n            n = i",
    "n = n + 1 if COND else 1",
    "if n < i // 2:\n            n = i // 2",
    "if k[i] != n:\n            n = k[i]\n            at += 1",
    "if COND:\n            on = not on",
    "on = not on if COND else on",
    "on = not on",
    "on = on or COND",
    "gap = v - x[i]\n        if COND:\n            v = x[i]\n        s[i] = s[i] + gap",
    "n = max(n, k[i])\n        if COND:\n            at = n",
    "if COND:\n            v = 0.25 * v + x[i]\n        else:\n            v = 0.0",
    "if COND:\n            v = 0.0\n        v = 0.5 * v + {y}",
    # several variables in one branch, and what one was before it
    "if COND:\n            n += 1\n            v += {y}\n        else:\n            n = 0\n"
    "            v = 0.0",
    "if x[i] > v:\n            t[i] = n\n            v = x[i]\n            n = i",
    "if COND:\n            n += 2\n            if not on:\n                at = n\n"
    "        else:\n            on = not on",
    "d = x[i] - v\n        v += d / (i + 1)\n        w += d * (x[i] - v)",
    "if COND:\n            continue\n        v += {y}\n        at = i",
    # elements that the next iteration reads
    "if i > 0:\n            s[i] = 0.5 * s[i - 1] + {y}",
    "if COND and i > 0:\n            t[i] = t[i - 1] + 1",
    "if z[i] != z[i]:\n            z[i] = v\n        else:\n            v = z[i]",
    # sums within bounds, and machines of few states
    "v = max(v + {y}, 0.0)",
    "v += x[i]\n        if v > n:\n            v = n + 0.5",
    "if on and x[i] > 1:\n            on = False\n        elif not on and {y} < 0:\n"
    "            on = True\n            at = i",
    "if at < 2:\n            at += 1\n        elif COND:\n            at = -1\n"
    "            v = x[i]",
    # positions that are counted
    "if COND:\n            k[m] = i\n            m += 1",
    "if COND:\n            m += 1\n            k[m - 1] = n\n        elif x[i] > 2:\n"
    "            m += 2",
    # these need their order
    "if x[i] > v:\n            v = v + 1.0",
    "if COND:\n            k[m] = i\n        else:\n            m += 1",
)
STORES = ("s[i] = v", "s[i] = n + v", "s[i] = v if on else x[i]", "s[i] = at + n", "t[i] = n")


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some sizes."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        chosen = [STEPS[number % len(STEPS)]]
        if rng.random() < 0.5:
            chosen.append(rng.choice(STEPS))
        lines = [
            s.replace("COND", rng.choice(CONDITIONS)).replace(
                "{y}", rng.choice(("y[i]", "x[i] + y[i]"))
            )
            for s in chosen
        ]
        lines.insert(rng.choice((0, len(lines), len(lines))), rng.choice(STORES))
        body = "\n        ".join(lines)
        source = (
            "import numpy as np\n\n\ndef f(x, y, k, v):\n    s = np.zeros(len(x))\n"
            "    t = np.zeros(len(x), np.int64)\n    n = m = 0\n    at = -1\n    on = False\n"
            "    w = 0.0\n    z = x.copy()\n"
            f"    for i in range(len(x)):\n        {body}\n    return s, t, z, float(n), float(w)\n"
        )
        calls: list[tuple[Any, ...]] = []
        for n in rng.sample(SIZES, 4):
            given = [np.round(numbers.normal(0, 2, n)) for _ in "xy"]
            if n and rng.random() < 0.4:
                given[0][numbers.integers(0, n)] = rng.choice(SPECIAL)
            whole = numbers.integers(-2, 3, n)
            calls.append((*given, whole, float(numbers.integers(-1, 2))))
        taken = (
            Parameter("x", "float64", ("n",)), Parameter("y", "float64", ("n",)),
            Parameter("k", "int64", ("n",)), Parameter("v", "float64", None),
        )  # fmt: skip
        yield Program(source, taken, tuple(calls))


def constants(number: int) -> tuple[dict[str, int], dict[str, int]]:
    """Those of the module for a program: tiles and blocks are small."""
    return {"THREADS": (4, 8, 32)[number % 3], "MOST_PARTIALS": 4}, {}


def main() -> int:
    """Run so many of them; some need their order, and are refused."""
    return run(programs, constants, "def f_", "are kernels", 0.3)


if __name__ == "__main__":
    sys.exit(main())
