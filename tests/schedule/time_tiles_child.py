"""Random loops over time, whose turns are stencils, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result, and
fails where few of the programs have tiles at all.  Tiles are small, so that sizes and turns cross
their borders.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.child_runs import run

BLOCKS = {"THREADS": 8, "BLOCK_X": 4, "MAX_BLOCKS": 3, "TIME_ROWS": 10, "TIME_COLUMNS": 11,
          "LINE_HALO": 4, "LINE_TILE": 11}  # fmt: skip
OWN = {"TIME_ROWS": 16, "TIME_COLUMNS": 16, "LINE_HALO": 4, "LINE_TILE": 32}
SIZES = (0, 1, 2, 3, 5, 8, 13, 20)
TURNS = (0, 1, 5, 9, 10, 11, 13, 18, 26, 33)
#: what a turn does: {a} and {b} are the inside of an array and of the other one, {f} and {g} are
#: made of neighbours in the first and in the second
TURNED = (
    "v{o} = {f}\n        u, v = v, u",
    "v = u.copy()\n        v{o} = {f}\n        u = v",
    "v{o} = {f}\n        u{o} = {g}",
    "v = np.zeros_like(u)\n        v{o} = {f}\n        u = u + v * 0.25",
    "v{o} = {f}\n        w{o} = {g}\n        u, v, w = w, u, v",
    "u = np.where(u > 0.5, u * 0.5, np.abs(u) + 0.25)\n        v{o} = {f}\n        u{o} = v{o}",
)


def _slices(rank: int, low: int, high: int, moves: tuple[int, ...]) -> str:
    """The inside of an array, moved by so many elements along each axis."""
    parts = []
    for move in moves:
        stop = move - high
        parts.append(f"{low + move}:{stop if stop else ''}")
    return f"[{', '.join(parts)}]"


def _made(rng: random.Random, array: str, rank: int, low: int, high: int) -> str:
    terms = []
    for _ in range(rng.randint(2, 4)):
        moves = tuple(rng.randint(-low, high) for _ in range(rank))
        factor = rng.choice(("0.5", "0.25", "-0.25", "0.125"))
        terms.append(f"{factor} * {array}{_slices(rank, low, high, moves)}")
    return " + ".join(terms)


def programs(count: int, seed: int) -> Iterator[Program]:
    """So many programs, each called with some shapes and turns."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    for number in range(count):
        rank = rng.choice((1, 2))
        low, high = rng.choice(((1, 1), (1, 1), (1, 0), (0, 1), (2, 1), (2, 2)))
        turn = TURNED[number % len(TURNED)]
        inner = _slices(rank, low, high, (0,) * rank)
        made = (_made(rng, name, rank, low, high) for name in "uv")
        body = turn.format(o=inner, f=next(made), g=next(made))
        source = (
            "import numpy as np\n\n\ndef f(x, turns):\n    u = x.copy()\n    v = x * 0.5\n"
            f"    w = x + 1\n    for _ in range(turns):\n        {body}\n    return u\n"
        )
        dtype = rng.choice(("float64", "float64", "float32"))
        calls: list[tuple[Any, ...]] = []
        for _ in range(4):
            shape = tuple(rng.choice(SIZES) for _ in range(rank))
            array = numbers.random(shape).astype(dtype)
            calls.append((array, rng.choice(TURNS)))
        taken = (Parameter("x", dtype, tuple("nm"[:rank])), Parameter("turns", "int64", None))
        yield Program(source, taken, tuple(calls))


def main() -> int:
    """Run so many of them; most have tiles."""
    return run(programs, lambda _: (BLOCKS, OWN), "f_turns", "with tiles")


if __name__ == "__main__":
    sys.exit(main())
