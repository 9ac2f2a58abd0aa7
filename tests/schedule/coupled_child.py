"""Linear recurrences of two values whose lines end at the borders of blocks, parts and tiles.

As `recurrences_child.py` has those of one value.  How far a result may be off follows from how
far it moves when the arguments move: poles near the unit circle, or near each other, magnify that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.recurrences_child import ADDED, LENGTHS, Array, run, terms

IN_ARRAY = """
def f(p, q, b):
    y = np.zeros_like(b)
    for i in range(2, b.size):
        y[i] = b[i] + p[i] * y[i - 1] + q[i] * y[i - 2]
    return y
"""
CONSTANT = """
def f(p, q, b):
    y = b.copy()
    for i in range(2, b.size):
        y[i] = b[i] + 3 * b[i - 1] - b[i - 2] + p[0] * y[i - 1] + q[0] * y[i - 2]
    return y
"""
BACKWARDS = """
def f(p, q, b):
    x = b.copy()
    for i in range(b.size - 3, -1, -1):
        x[i] = b[i] - p[i] * x[i + 1] + x[i + 2] * q[i]
    return x
"""
IN_PLACE = """
def f(p, q, b):
    for i in range(2, b.size):
        b[i] += p[i] * b[i - 1] + q[i] * b[i - 2]
    return b
"""
EVERY_OTHER = """
def f(p, q, b):
    y = b.copy()
    for i in range(4, b.size):
        y[i] = y[i] - y[i - 2] * q[i] + p[i]
    return y
"""
PRODUCTS = """
def f(p, q, b):
    y = b.copy()
    for i in range(2, b.size):
        y[i] = y[i - 1] + p[i] * (q[i] * (y[i - 1] - y[i - 2]) + b[i] - y[i - 1])
    return y
"""
DIVIDED = """
def f(p, q, b):
    y = b.copy()
    for i in range(3, b.size):
        y[i] = (b[i] - q[i] * y[i - 1] - y[i - 2]) / p[i]
    return y
"""
FILTER = """
def f(p, q, b):
    s = t = START
    out = np.zeros_like(b)
    for i in range(b.size):
        v = b[i] + s
        s = p[i] * v - b[i] + t
        t = q[i] * v
        out[i] = v
    return out
"""
TRENDS = """
def f(p, q, b):
    level, trend = START, b.dtype.type(1)
    out = np.zeros_like(b)
    for i in range(1, b.size):
        new = p[0] * b[i] + (1 - p[0]) * (level + trend)
        trend = q[0] * (new - level) + (1 - q[0]) * trend
        level = new
        out[i] = level - trend
    return out
"""
CASCADE = """
def f(p, q, b):
    s = t = START
    out = np.zeros_like(b)
    for i in range(b.size):
        s = p[i] * s + b[i]
        t = q[i] * t - s
        out[i] = t
    return out
"""
LAST = """
def f(p, q, b):
    s = t = START
    for i in range(b.size):
        s, t = b[i] - (p[i] * s + t), s * q[i]
    return s
"""
# in order it stays 1 exactly, products of such steps have no digit of it
BALANCED = """
def f(p, q, b):
    y = np.ones_like(b)
    for i in range(2, b.size):
        y[i] = 4 * y[i - 1] - 2 * y[i - 2] - 1
    return y
"""
# the first value is small beside the second one, and does not take it in
BESIDE = """
def f(p, q, b):
    s, t = START, START + 1e9
    out = np.zeros_like(b)
    for i in range(b.size):
        s = 0.5 * s + b[i]
        t = 0.999 * t + 0.001 * s
        out[i] = s if b[i] < 9 else t
    return out
"""
OF_FLOATS = DIVIDED, BESIDE
SHAPES = (IN_ARRAY, CONSTANT, BACKWARDS, BALANCED, IN_PLACE, EVERY_OTHER, PRODUCTS, FILTER, TRENDS,
          CASCADE, LAST, *OF_FLOATS)  # fmt: skip


def poles(rng: np.random.Generator, kind: str, n: int) -> tuple[Array, Array]:
    """The radius and the angle of the poles of each step."""
    angle, steps = rng.choice([3.0, 1.0, 0.1, 0.003]) * rng.random(), np.arange(n)
    match kind:
        case "marginal":
            return np.ones(n), np.full(n, angle)
        case "slow":
            return np.full(n, 0.9999), angle * (1 + 0.5 * np.sin(steps / 300))
        case "wild":
            return rng.uniform(0, 1.1, n), rng.uniform(0, np.pi, n)
        case "growing":
            return np.full(n, rng.choice([1.0005, 1.01, 1.1, 1.5])), np.full(n, angle)
        case "up and down":
            return np.where(steps // 9 % 2, 3.0, 1 / 3.0), np.full(n, angle)
    return np.full(n, 0.97 * rng.random()), np.full(n, angle)


def weights(rng: np.random.Generator, kind: str, n: int, dtype: str) -> list[Array]:
    """What both old values are multiplied with; of integers, any."""
    if np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        return [rng.integers(limits.min, limits.max, n, dtype, endpoint=True) for _ in range(2)]
    radius, angle = poles(rng, kind, n)
    p, q = 2 * radius * np.cos(angle), -(radius**2)
    one = rng.integers(0, max(n, 1), min(n, 1))
    match kind:
        case "real":
            p, q = np.full(n, rng.uniform(-1, 1)), np.full(n, rng.uniform(0, 1))
        case "doubled":
            p, q = np.full(n, 2.0), np.full(n, -1.0)
        case "resets":
            p, q = np.where(rng.random((2, n)) < 0.02, 0.0, (p, q))
        case "huge":
            p[one], q[one] = 1e30, -1e30
        case "special":
            rng.choice([p, q])[one] = rng.choice([np.nan, np.inf, -np.inf])
    return [p.astype(dtype), q.astype(dtype)]


KINDS = ("plain", "marginal", "slow", "wild", "growing", "up and down", "real", "doubled",
         "resets", "huge", "special")  # fmt: skip


def bound(function: Callable[..., Any], p: Array, q: Array, b: Array, text: str) -> Any:
    """How far results move, in wider numbers, per rounding of the arguments."""
    rng, wide = np.random.default_rng(0), np.longdouble
    given = [x.astype(wide) for x in (p, q, b)]
    exact, little = np.asarray(function(*(x.copy() for x in given))), wide(2.0) ** -40
    found = np.abs(exact)
    for _ in range(3):
        moved = function(*(x * (1 + little * rng.choice([-1, 1], x.size)) for x in given))
        found = np.maximum(found, 8 * np.abs(moved - exact) / little)
    along = -1 if text == BACKWARDS else 1
    return np.maximum.accumulate(found[::along])[::along] if found.shape else found


def cases(count: int, seed: int) -> Iterator[tuple[Program, str, dict[str, int], list[Any]]]:
    """Each shape for each dtype and size of blocks, called so often."""
    rng = np.random.default_rng(seed)
    views = [np.s_[:], np.s_[::-1], np.s_[::2]]
    for shape in SHAPES:
        for dtype in ("float64", "float32", "int64"):
            if dtype == "int64" and shape in OF_FLOATS:
                continue
            parameters = tuple(Parameter(name, dtype, ("n",)) for name in "pqb")
            text = shape.replace("START", "0" if dtype == "int64" else "0.0")
            for blocks, lengths in LENGTHS:
                calls = []
                for _ in range(count):
                    n, view = int(rng.choice((0, *lengths))), views[rng.integers(len(views))]
                    size = n * (view.step or 1) if (view.step or 1) > 0 else n
                    p, q = weights(rng, str(rng.choice(KINDS)), size, dtype)
                    b = terms(rng, str(rng.choice(ADDED)), size, dtype)
                    calls.append([x[view] for x in (p, q, b)])
                program = Program("import numpy as np\n\n" + text, parameters, ())
                yield program, text, blocks, calls


def main() -> int:
    """Run what the command line asks for: calls of each, seed, and one program of how many."""
    count, seed, every = map(int, sys.argv[1:])
    return run(cases(count, seed), every, 20, bound)


if __name__ == "__main__":
    sys.exit(main())
