"""Sums within bounds whose lines end at the borders of blocks, parts and tiles.

Called as `recurrences_child.py` is, and compares as it does: integers to the last bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.recurrences_child import LENGTHS, Array, run

IN_VARIABLE = """
def f(x, lo, hi, s):
    v = s[0]
    out = np.zeros_like(x)
    for i in range(x.size):
        STEP
        out[i] = v
    return out
"""
IN_ARRAY = """
def f(x, lo, hi, s):
    y = s.copy()
    for i in range(1, x.size):
        y[i] = STEP
    return y
"""
BACKWARDS = """
def f(x, lo, hi, s):
    y = s.copy()
    for i in range(x.size - 2, -1, -1):
        y[i] = STEP
    return y
"""
LAST = """
def f(x, lo, hi, s):
    v = s[0]
    for i in range(x.size):
        STEP
    return v
"""
#: the lines of an iteration are apart by `; `
STEPS = (
    (IN_VARIABLE, "v = max(x[i], v + x[i])"),
    (IN_VARIABLE, "v = np.clip(v + x[i], lo[i], hi[i])"),
    (IN_VARIABLE, "v = max(lo[i], min(hi[i], v - x[i]))"),
    (IN_VARIABLE, "v = min(max(v + x[i], lo[i]), hi[i])"),
    (IN_VARIABLE, "v = np.maximum(v + x[i], 0)"),
    (IN_VARIABLE, "v = v + x[i]; if v > hi[i]:;     v = hi[i]; elif v < lo[i]:;     v = lo[i]"),
    (IN_VARIABLE, "v = v + x[i]; if v < lo[i]:;     v = lo[i]; if v >= hi[i]:;     v = hi[i]"),
    (
        IN_VARIABLE,
        "if x[i] > 0:;     v = min(v + x[i], hi[i]); else:;     v = max(v - 1, lo[i])",
    ),
    (IN_VARIABLE, "v = lo[i] if x[i] > 2 else min(v + x[i], hi[i])"),
    (IN_VARIABLE, "if x[i] > 0:;     v = max(v - x[i], lo[i])"),
    (IN_VARIABLE, "v = x[i] if v < 0 else v + x[i]"),
    (LAST, "v = min(v + x[i], hi[0])"),
    (IN_ARRAY, "max(0, y[i - 1] + x[i] - lo[i])"),
    (IN_ARRAY, "np.maximum(np.minimum(y[i - 1] + x[i], hi[i]), lo[i])"),
    (IN_ARRAY, "max(y[i - 1], lo[i]) + x[i]"),
    (BACKWARDS, "min(x[i] + y[i + 1], hi[i])"),
)
OF_FLOATS = (
    (IN_VARIABLE, "v = np.fmin(np.fmax(v + x[i], lo[i]), hi[i])"),
    (IN_VARIABLE, "v = max(min(v, hi[i]) + x[i], lo[i]) - hi[i]"),
    (IN_ARRAY, "np.minimum(np.maximum(y[i - 1] - x[i], lo[i]) + x[i], hi[i])"),
)
ADDED = ("plain", "plain", "small", "huge", "at the limit", "special", "several special")
BOUNDS = ("plain", "plain", "crossed", "wide", "none", "special")


def program_of(shape: str, step: str, dtype: str) -> Program:
    """A program with a step."""
    place = next(line for line in shape.splitlines() if "STEP" in line)
    indent = place[: len(place) - len(place.lstrip())] if place.strip() == "STEP" else ""
    text = shape.replace("STEP", f"\n{indent}".join(step.split("; ")))
    parameters = tuple(Parameter(name, dtype, ("n",)) for name in ("x", "lo", "hi", "s"))
    return Program("import numpy as np\n\n" + text, parameters, ())


def replaced(rng: np.random.Generator, x: Array, count: int, values: Any) -> Array:
    """Some elements are other values."""
    x[rng.integers(0, x.size, count)] = rng.choice(values, count)
    return x


def integers(rng: np.random.Generator, kind: str, n: int) -> Array:
    """What is added, of 64 bits: small numbers, any, and those at what is composed at most."""
    match kind:
        case "huge" | "several special":
            lowest, highest = -(2**63), 2**63 - 1
            return rng.integers(lowest, highest, n, np.int64, endpoint=True)
        case "at the limit":
            near = 2**60 + rng.integers(-3, 4, n)
            return np.where(rng.random(n) < 0.5, near, -near)
        case "special":
            ends = [-(2**63), 2**63 - 1, 2**60, 2**61, 3 * 2**60, -(2**62)]
            return replaced(rng, rng.integers(-9, 10, n), 2, ends)
    return rng.integers(-9, 10, n)


def floats(rng: np.random.Generator, kind: str, n: int, dtype: str) -> Array:
    """What is added."""
    x, large = rng.normal(size=n), 1e38 if dtype == "float32" else 1e308
    match kind:
        case "small":
            x *= 1e-30
        case "huge":
            x = rng.uniform(-3, 3, n).clip(-1.7, 1.7) * large
        case "at the limit":
            x = rng.choice([1e37, -1e37, 0.999e37, 3e36, -1.0], n)
        case "special":
            x = replaced(rng, x, 1, [np.nan, np.inf, -np.inf, -large])
        case "several special":
            x = replaced(rng, x, 1 + n // 40, [np.nan, np.inf, -np.inf, large])
    return x.astype(dtype)


def limits(rng: np.random.Generator, kind: str, n: int, dtype: str) -> tuple[Array, Array]:
    """Bounds from below and from above."""
    whole = dtype == "int64"
    lo, hi = rng.uniform(-4, 0, n), rng.uniform(1, 5, n)
    match kind:
        case "crossed":
            lo[rng.random(n) < 0.05] = 3
            hi[rng.random(n) < 0.05] = -2
        case "wide":
            lo, hi = lo * 100 * n, hi * 100 * n
        case "none":
            lo[:], hi[:] = (-(2.0**62), 2.0**62) if whole else (-np.inf, np.inf)
        case "special":
            ends = [-(2.0**62), 2.0**62, 2.0**60, -(2.0**63)] if whole else [
                np.nan, np.inf, -np.inf, 1e38, -1e38,
            ]  # fmt: skip
            lo, hi = (replaced(rng, y, 1 + n // 99, ends) for y in (lo, hi))
    return lo.astype(dtype), hi.astype(dtype)


def arguments(rng: np.random.Generator, n: int, dtype: str) -> tuple[Array, ...]:
    """The arguments of one call; the first element of the last one is where it starts."""
    kind = str(rng.choice(ADDED))
    lo, hi = limits(rng, str(rng.choice(BOUNDS)), n, dtype)
    if dtype == "int64":
        starts = [0, 1, -2, 7, 2**60, 2**60 + 1, -(2**61), 2**63 - 1, -(2**63)]
        return integers(rng, kind, n), lo, hi, np.full(n, rng.choice(starts))
    start = rng.choice([0.0, -0.0, 2.5, -7.0])
    if rng.random() < 0.3:
        start = rng.choice([np.nan, np.inf, -np.inf, 1.1e37, -3e38])
    return floats(rng, kind, n, dtype), lo, hi, np.full(n, start, dtype)


def taken(
    rng: np.random.Generator, program: Program, lengths: Sequence[int], dtype: str
) -> tuple[Array, ...]:
    """Arguments with which no integer wraps around: compilers need not see that."""
    while True:
        given = arguments(rng, int(rng.choice(lengths)), dtype)
        try:
            with np.errstate(over="raise" if dtype == "int64" else "ignore"):
                program.function()(*(x.copy() for x in given))
            return given
        except FloatingPointError:
            continue


def bound(_: Callable[..., Any], x: Array, lo: Array, hi: Array, s: Array, text: str) -> Any:
    """The sum of all terms and bounds so far without their signs, in wider numbers."""
    last: Any = 0.0
    if "- 2, -1" in text:
        x, lo, hi = x[::-1], lo[::-1], hi[::-1]
    for y in (2 * x, 2 * lo, 2 * hi, s[:1]):
        last = last + np.cumsum(np.where(np.isfinite(y), abs(y.astype(np.longdouble)), 0))
    last = last[::-1] if "- 2, -1" in text else last
    return last[-1] if "return v" in text else last


def cases(count: int, seed: int) -> Iterator[tuple[Program, str, dict[str, int], list[Any]]]:
    """Each step for each dtype and size of blocks, called so often."""
    rng = np.random.default_rng(seed)
    for shape, step in (*STEPS, *OF_FLOATS):
        for dtype in ("float64", "float32", "int64"):
            if dtype == "int64" and (shape, step) in OF_FLOATS:
                continue
            program = program_of(shape, step, dtype)
            for blocks, lengths in LENGTHS:
                calls = [taken(rng, program, lengths, dtype) for _ in range(count)]
                yield program, program.source, blocks, calls


def main() -> int:
    """Run what the command line asks for: calls of each, seed, and one program of how many."""
    count, seed, every = map(int, sys.argv[1:])
    return run(cases(count, seed), every, 100, bound)


if __name__ == "__main__":
    sys.exit(main())
