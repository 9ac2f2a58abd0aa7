"""Linear recurrences whose lines end at the borders of blocks, parts and tiles.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.  The
emulator runs the module's own blocks or small ones, in few parts, so that each has several tiles.
A result must be finite where that of NumPy is, infinite or no number where that is, and no farther
from it than as many roundings as the line is long of what its terms sum up to.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from porter.emulate import program as programs
from tests.programs.emulator import installed
from tests.programs.simulator import converted
from tests.programs.strategy import Parameter, Program

Array = np.ndarray[Any, Any]
OWN, SMALL = {"THREADS": 256, "WARP": 32}, {"THREADS": 64, "WARP": 32, "MOST_PARTIALS": 3}
#: the length of lines: borders of a block, of a part, of a tile of a part, of a tile of parts
LENGTHS: tuple[tuple[dict[str, int], tuple[int, ...]], ...] = (
    (OWN, (1, 2, 3, 255, 256, 257, 258, 511, 512, 513, 514, 775)),
    (SMALL, (1, 2, 64, 65, 66, 129, 191, 192, 193, 194, 384, 385, 386, 1000)),
    ({"THREADS": 64, "WARP": 32}, (64 * 63, 64 * 64 + 1, 64 * 65 + 2, 64 * 131)),
)
IN_ARRAY = """
def f(a, b):
    y = np.zeros_like(b)
    y[0] = b[0]
    for i in range(1, b.size):
        y[i] = a[i] * y[i - 1] + b[i]
    return y
"""
BACKWARDS = """
def f(a, b):
    x = b.copy()
    for i in range(b.size - 2, -1, -1):
        x[i] = b[i] - a[i] * x[i + 1]
    return x
"""
IN_PLACE = """
def f(a, b):
    for i in range(1, b.size):
        b[i] += a[i] * b[i - 1]
    return b
"""
IN_VARIABLE = """
def f(a, b):
    v = START
    out = np.zeros_like(b)
    for i in range(b.size):
        v = v * a[i] + b[i]
        out[i] = v
    return out
"""
WHERE = """
def f(a, b):
    v = START
    out = np.zeros_like(b)
    for i in range(b.size):
        f = a[i]
        if b[i] > 0:
            v = b[i] - v * f
        out[i] = v
    return out
"""
LAST = """
def f(a, b):
    v = START
    for i in range(b.size):
        v = a[i] * v + b[i]
    return v
"""
TOWARDS = """
def f(a, b):
    v = START
    out = np.zeros_like(b)
    for i in range(b.size):
        v += a[i] * (b[i] - v)
        out[i] = v
    return out
"""
RELAXING = """
def f(a, b):
    y = b.copy()
    for i in range(1, b.size):
        y[i] = y[i - 1] - (y[i - 1] - b[i]) * a[i] / 0.75
    return y
"""
DIVIDED = """
def f(a, b):
    x = b.copy()
    for i in range(b.size - 2, -1, -1):
        x[i] = (b[i] - 0.5 * x[i + 1]) / a[i]
    return x
"""
RESET = """
def f(a, b):
    v = START
    out = np.zeros_like(b)
    for i in range(b.size):
        v = 0.5 if i % 61 == 7 else a[i] * v + b[i]
        out[i] = v
    return out
"""
SELDOM_RESET = """
def f(a, b):
    v = START
    out = np.zeros_like(b)
    for i in range(b.size):
        if i % 97 == 40:
            v = 0.0
        v = 0.75 * v + a[i]
        out[i] = v + b[i]
    return out
"""
OF_FLOATS = TOWARDS, RELAXING, DIVIDED, RESET, SELDOM_RESET
SHAPES = (IN_ARRAY, BACKWARDS, IN_PLACE, IN_VARIABLE, WHERE, LAST, *OF_FLOATS)


def factors(rng: np.random.Generator, kind: str, n: int, dtype: str) -> Array:
    """Factors of a kind; those of integers are any."""
    if np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
    a = rng.uniform(-1, 1, n)
    match kind:
        case "slow":
            a = rng.uniform(0.99, 1, n)
        case "resets":
            a[rng.random(n) < 0.02] = 0.0
        case "one beyond":
            a[rng.integers(0, max(n, 1), min(n, 2))] = -1.5
        case "growing":
            a = rng.uniform(0.9, 1.3, n)
        case "up and down":
            # products of several overflow, those of neighbours do not
            large = 1e30 if dtype == "float32" else 1e250
            a = np.where(np.arange(n) // 4 % 2, large, 1 / large)
        case "tiny":
            a = np.full(n, 1e-30)
        case "special":
            a[rng.integers(0, max(n, 1), min(n, 1))] = rng.choice([np.nan, np.inf, -np.inf])
    return a.astype(dtype)


def terms(rng: np.random.Generator, kind: str, n: int, dtype: str) -> Array:
    """What is added."""
    if np.dtype(dtype).kind == "i":
        return rng.integers(-(2**40), 2**40, n).astype(dtype)
    b = rng.normal(size=n)
    match kind:
        case "impulse":
            b = np.zeros(n)
            b[: min(n, 1)] = 1.0
        case "infinite":
            b[rng.integers(0, max(n, 1), min(n, 1))] = rng.choice([np.inf, -np.inf])
        case "no number":
            b[rng.integers(0, max(n, 1), min(n, 1))] = np.nan
    return b.astype(dtype)


KINDS = ("plain", "slow", "resets", "one beyond", "growing", "up and down", "tiny", "special")
ADDED = ("plain", "impulse", "infinite", "no number")


def bound(function: Callable[..., Any], a: Array, b: Array, text: str) -> Any:
    """What the terms sum up to without their signs, in wider numbers."""
    wide = np.abs(a.astype(np.longdouble)), np.abs(b.astype(np.longdouble))
    if text.count("- v)") or text == RELAXING:
        a = a / (1 if text != RELAXING else 0.75)
        y = bound(function, np.asarray(1 - a), np.asarray(3 * a * b), IN_VARIABLE)
        return np.maximum.accumulate(y)
    if text == BACKWARDS:
        wide = -wide[0], wide[1]
    if text == DIVIDED:
        y = bound(function, 0.5 / wide[0][::-1], 2 * (wide[1] / wide[0])[::-1], IN_ARRAY)
        return np.maximum.accumulate(y)[::-1]
    scope: dict[str, Any] = {"np": np}
    text = text.replace("START", "0.0")
    exec(text.replace("if b[i] > 0:", "if True:").replace("b[i] - v", "b[i] + v"), scope)
    return scope["f"](*wide)


def wrong(made: Any, expected: Any, most: Any, n: int) -> str:
    """What is wrong with a result, or nothing."""
    made, expected = np.asarray(made), np.asarray(expected)
    if (made.dtype, made.shape) != (expected.dtype, expected.shape):
        return f"{made.dtype}{made.shape} instead of {expected.dtype}{expected.shape}"
    if made.dtype.kind == "i":
        return "" if np.array_equal(made, expected) else "another integer"
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, made), np.where(finite, 0, expected), equal_nan=True):
        return "another infinity, or a number where there is none"
    info = np.finfo(made.dtype)
    apart = np.abs(np.where(finite, made, 0).astype(np.longdouble) - np.where(finite, expected, 0))
    with np.errstate(all="ignore"):
        allowed = (n + 8) * info.eps * np.where(np.isfinite(most), most, np.inf) + info.tiny
    if not (apart <= allowed).all():
        k = int(np.argmax(apart > allowed))
        return f"[{k}] is {made.flat[k]!r}, not {expected.flat[k]!r}"
    return ""


def laid_out(x: Array) -> Array:
    """A copy in the same order of memory; of a view, one with the same steps."""
    step = x.strides[0] // x.itemsize or 1
    whole = np.zeros(x.size * abs(step), x.dtype)
    whole[::step][: x.size] = x
    return whole[::step][: x.size]


def cases(count: int, seed: int) -> Iterator[tuple[Program, str, dict[str, int], list[Any]]]:
    """Each shape for each dtype and size of blocks, called so often."""
    rng = np.random.default_rng(seed)
    for shape in SHAPES:
        for dtype in ("float64", "float32", "int64"):
            if dtype == "int64" and shape in OF_FLOATS:
                continue
            text = shape.replace("START", "0" if dtype == "int64" else "0.0")
            parameters = Parameter("a", dtype, ("n",)), Parameter("b", dtype, ("n",))
            for blocks, lengths in LENGTHS:
                calls = []
                for _ in range(count):
                    n = int(rng.choice(lengths))
                    # a reset must end what NaN leaves behind it
                    kind = "special" if shape == RESET and n % 2 == 0 else rng.choice(KINDS)
                    a = factors(rng, str(kind), n, dtype)
                    calls.append((a, terms(rng, str(rng.choice(ADDED)), n, dtype)))
                yield Program("import numpy as np\n\n" + text, parameters, ()), text, blocks, calls


def checked(
    program: Program,
    text: str,
    blocks: Mapping[str, int],
    calls: list[Any],
    bound: Callable[..., Any] = bound,
) -> Iterator[str]:
    """What is wrong with the calls of one program."""
    emulation = installed()
    emulation.clear()
    programs.forget()
    made = converted(program, siblings=False, blocks=blocks)
    emulation.watched = [made.__globals__]
    for given in calls:
        original, first = program.function(), given[0]
        expected, most = original(*(x.copy() for x in given)), 0
        if first.dtype.kind == "f":
            most = bound(original, *given, text)
        found = wrong(made(*map(laid_out, given)), expected, most, first.size)
        if found:
            yield f"{text}{first.dtype} {first.size} {blocks}: {found}"
        if left := emulation.reason():
            yield f"{text}not on the emulator: {left}"


def run(
    programs: Iterable[tuple[Program, str, dict[str, int], list[Any]]],
    every: int,
    least: int,
    bound: Callable[..., Any] = bound,
    checked: Callable[..., Iterator[str]] = checked,
) -> int:
    """Run one of so many programs; 1 if a call is wrong, or if there were fewer than `least`."""
    warnings.simplefilter("ignore")
    done = failed = 0
    for case in itertools.islice(programs, None, None, every):
        done += 1
        for line in checked(*case, bound=bound):
            failed += 1
            print(line)
    print(f"{done} programs, {failed} wrong")
    return int(failed > 0 or done * every < least)


def main() -> int:
    """Run what the command line asks for: calls of each, seed, and one program of how many."""
    count, seed, every = map(int, sys.argv[1:])
    return run(cases(count, seed), every, 20)


if __name__ == "__main__":
    sys.exit(main())
