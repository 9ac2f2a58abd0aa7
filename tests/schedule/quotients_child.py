"""Quotients of linear functions whose lines end at the borders of blocks, parts and tiles.

Called as `recurrences_child.py` is, and with `composed` for lines whose elements are all composed,
however far they are from the source's step: elements that run in order would hide what is wrong.
How far a result may be off follows from how far it moves when
each element of the line is rounded otherwise: near a pole, that is any way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from porter.schedule.schedules.scans import quotient
from tests.programs.strategy import Parameter, Program
from tests.schedule.recurrences_child import LENGTHS, Array, run

#: what comes before a step, and after it; `STEP` is one, and `Y` the old value in it
IN_VARIABLE = """
def f(a, b, c, s):
    v = s[0]
    out = np.zeros_like(b)
    for i in range(b.size):
        v = STEP
        out[i] = v
    return out
"""
IN_ARRAY = """
def f(a, b, c, s):
    y = s.copy()
    for i in range(1, b.size):
        y[i] = STEP
    return y
"""
IN_PLACE = """
def f(a, b, c, s):
    b[0] = s[0]
    for i in range(1, b.size):
        b[i] = STEP
    return b
"""
BACKWARDS = """
def f(a, b, c, s):
    y = s.copy()
    for i in range(b.size - 2, -1, -1):
        y[i] = STEP
    return y
"""
LAST = """
def f(a, b, c, s):
    v = s[0]
    for i in range(b.size):
        v = STEP
    return v
"""
OLD = {IN_VARIABLE: "v", IN_ARRAY: "y[i - 1]", IN_PLACE: "b[i - 1]", BACKWARDS: "y[i + 1]",
       LAST: "v"}  # fmt: skip
STEPS = (
    (IN_VARIABLE, "c[i] / (b[i] - a[i] * Y)"),
    (IN_VARIABLE, "(a[i] * Y + c[i]) / (c[i] * Y + b[i])"),
    (IN_VARIABLE, "(1 - (Y + a[i]) / (Y + a[i] + b[i])) * (Y + a[i])"),
    (IN_VARIABLE, "1 / (a[i] + 1 / (Y + b[i]))"),
    (IN_VARIABLE, "Y + a[i] if c[i] > 1 else b[i] + a[i] / Y"),
    (IN_ARRAY, "c[i] / (b[i] - a[i] * Y)"),
    (IN_ARRAY, "b[i] - a[i] / Y * c[i]"),
    (IN_PLACE, "b[i] - a[i] * c[i - 1] / Y"),
    (BACKWARDS, "c[i] / (b[i] - a[i] * Y)"),
    (BACKWARDS, "b[i] + a[i] / Y"),
    (LAST, "b[i] + a[i] / Y"),
    (LAST, "c[i] / (b[i] - a[i] * Y)"),
)
#: steps whose lines stay away from poles, with positive numbers and a start at 1
COMPOSED = tuple(s for s in STEPS if "- a[i] / Y * c[i]" not in s[1])
KINDS = ("dominant", "dominant", "diffusion", "poisson", "scaled", "positive", "random", "zeros",
         "zero", "huge", "tiny", "far apart", "special", "several special")  # fmt: skip


def rows(rng: np.random.Generator, kind: str, n: int, dtype: str) -> tuple[Array, Array, Array]:
    """What stands beside the diagonals of matrices, and on them."""
    a, c = rng.uniform(-1, 1, (2, n))
    b = rng.choice([-1, 1], n) * (abs(a) + abs(c) + rng.uniform(0.1, 2, n))
    large = 1e30 if dtype == "float32" else 1e250
    match kind:
        case "diffusion":
            k = rng.choice([0.1, 1.0, 10.0]) * (1.1 + np.sin(np.arange(n + 1) / 30))
            a, b, c = -k[:-1], 1 + k[:-1] + k[1:], -k[1:]
        case "poisson":
            a, b, c = np.full(n, -1.0), np.full(n, 2.0), np.full(n, -1.0)
        case "scaled":
            a, b, c = np.full(n, -1 / 0.3), np.full(n, 2 / 0.3), np.full(n, -1 / 0.3)
        case "positive":
            a, b, c = abs(a), abs(b), abs(c)
        case "random":
            a, b, c = rng.normal(size=(3, n))
        case "zeros":
            a[rng.random(n) < 0.1] = 0.0
            c[rng.random(n) < 0.1] = 0.0
        case "zero":
            # a denominator of 0, or an element
            b[rng.integers(0, n)], a[rng.integers(0, n)] = 0.0, 0.0
            c[rng.integers(0, n)] = 0.0
        case "huge" | "tiny":
            a, b, c = (x * (large if kind == "huge" else 1 / large) for x in (a, b, c))
        case "far apart":
            scale = np.where(np.arange(n) // 9 % 2, large**0.5, large**-0.5)
            a, b, c = a * scale, b * scale, c * scale
        case "special" | "several special":
            for _ in range(1 if kind == "special" else 1 + n // 100):
                chosen = (a, b, c)[rng.integers(3)]
                chosen[rng.integers(0, n)] = rng.choice([np.nan, np.inf, -np.inf, large])
    return a.astype(dtype), b.astype(dtype), c.astype(dtype)


def arguments(rng: np.random.Generator, n: int, dtype: str, stable: bool) -> tuple[Array, ...]:
    """The arguments of one call; one element of the last one is where it starts."""
    if stable:
        return *rows(rng, "positive", n, dtype), np.full(n, 1.0, dtype)
    start = rng.choice([0.5, -0.25, 1.0, 3.0, rng.normal()])
    if rng.random() < 0.15:
        start = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1e38])
    return *rows(rng, str(rng.choice(KINDS)), n, dtype), np.full(n, start, dtype)


def bound(
    function: Callable[..., Any], a: Array, b: Array, c: Array, s: Array, text: str
) -> Any:  # fmt: skip
    """How far results move, in wider numbers, per rounding of the arguments and of each element."""
    rng, wide = np.random.default_rng(0), np.longdouble
    given = [x.astype(wide) for x in (a, b, c, s)]
    exact, little = np.asarray(function(*(x.copy() for x in given))), wide(2.0) ** -40
    found = 16 * np.abs(exact)
    scope: dict[str, Any] = {"np": np, "rounded": lambda y: y * (1 + little * rng.choice([-1, 1]))}
    exec(text, scope)
    for _ in range(3):
        moved = scope["moved"](*(x * (1 + little * rng.choice([-1, 1], x.size)) for x in given))
        found = np.maximum(found, 64 * np.abs(moved - exact) / little)
    if not found.shape:
        return found
    along = -1 if "- 2, -1" in text else 1
    found = np.where(np.isfinite(found), found, np.inf if np.isfinite(exact).all() else 0)
    return np.maximum.accumulate(found[::along])[::along]


def cases(
    count: int, seed: int, stable: bool
) -> Iterator[tuple[Program, str, dict[str, int], list[Any]]]:
    """Each step for each dtype and size of blocks, called so often."""
    rng = np.random.default_rng(seed)
    for shape, step in COMPOSED if stable else STEPS:
        step = step.replace("Y", OLD[shape])
        text = "import numpy as np\n\n" + shape.replace("STEP", step)
        moved = shape.replace("STEP", f"rounded({step})").replace("def f(", "def moved(")
        for dtype in ("float64", "float32"):
            parameters = tuple(Parameter(name, dtype, ("n",)) for name in "abcs")
            for blocks, lengths in LENGTHS:
                calls = [
                    arguments(rng, int(rng.choice(lengths)), dtype, stable) for _ in range(count)
                ]
                yield Program(text, parameters, ()), moved, blocks, calls


def main() -> int:
    """Run what the command line asks for: calls of each, seed, and one program of how many."""
    count, seed, every = map(int, sys.argv[1:4])
    stable = "composed" in sys.argv
    if stable:
        quotient.ROUNDINGS = 2**80
    return run(cases(count, seed, stable), every, 60, bound)


if __name__ == "__main__":
    sys.exit(main())
