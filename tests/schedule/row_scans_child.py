"""Recurrences and running folds along rows that end at the borders of blocks and tiles.

Called as `recurrences_child.py` is, and compares as it does.  Arrays are in order of memory or of
its columns, reversed, or every other row; a block does several rows, one after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from porter.emulate import program as programs
from porter.emulate.source.scope import TEXT
from tests.programs.emulator import installed
from tests.programs.simulator import converted
from tests.programs.strategy import Parameter, Program
from tests.schedule.recurrences_child import ADDED, KINDS, Array, factors, run, terms, wrong

#: rows and lengths: the borders of tiles, of what is long enough, and of what the blocks are
SIZES: tuple[tuple[dict[str, int], tuple[int, ...], tuple[int, ...]], ...] = (
    (
        {"THREADS": 64, "WARP": 32, "LONG": 0, "MAX_BLOCKS": 2},
        (0, 1, 2, 3, 5),
        (1, 2, 3, 31, 33, 63, 64, 65, 66, 127, 128, 129, 130, 200),
    ),
    ({"THREADS": 256, "WARP": 32}, (1, 3), (63, 64, 65, 66, 256, 257, 258, 513)),
)
IN_ARRAY = """
def f(a, b):
    y = np.zeros_like(b)
    for c in range(b.shape[0]):
        y[c, 0] = b[c, 0]
        for i in range(1, b.shape[1]):
            y[c, i] = a[c, i] * y[c, i - 1] + b[c, i]
    return y
"""
BACKWARDS = """
def f(a, b):
    for c in range(b.shape[0]):
        for i in range(b.shape[1] - 2, -1, -1):
            b[c, i] = b[c, i] + a[c, i] * b[c, i + 1]
    return b
"""
IN_VARIABLE = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        v = b[c, 0]
        for i in range(b.shape[1]):
            v = v * a[c, i] + b[c, i]
            out[c, i] = v
    return out
"""
ONE_FACTOR = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        g = a[c, 0]
        v = START
        for i in range(b.shape[1]):
            v = v * g + b[c, i]
            out[c, i] = v
    return out
"""
RESET = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        v = START
        for i in range(b.shape[1]):
            f = a[c, i] * v + b[c, i]
            v = 0.5 if i % 61 == 7 else f
            out[c, i] = v
    return out
"""
TOWARDS = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        v = START
        for i in range(b.shape[1]):
            v += a[c, i] * (b[c, i] - v)
            out[c, i] = v
    return out
"""
SUM = """
def f(a, b):
    for c in range(b.shape[0]):
        for i in range(1, b.shape[1]):
            b[c, i] += b[c, i - 1]
    return b
"""
SUM_IN_VARIABLE = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        v = START
        for i in range(b.shape[1]):
            v += a[c, i] * b[c, i]
            out[c, i] = v
    return out
"""
LARGEST = """
def f(a, b):
    out = np.zeros_like(b)
    for c in range(b.shape[0]):
        v = b[c, 0]
        for i in range(b.shape[1]):
            if b[c, i] > v:
                v = b[c, i]
            out[c, i] = v
    return out
"""
OF_FLOATS = TOWARDS, RESET, LARGEST
SHAPES = (IN_ARRAY, BACKWARDS, IN_VARIABLE, ONE_FACTOR, SUM, SUM_IN_VARIABLE, *OF_FLOATS)


def laid_out(rng: np.random.Generator, x: Array) -> Array:
    """The same elements in some order of memory."""
    match rng.integers(5):
        case 0:
            return x.copy(order="F")
        case 1:
            return x[:, ::-1].copy()[:, ::-1]
        case 2:
            return np.repeat(x, 2, axis=0)[::2]
        case 3:
            return x[::-1].copy()[::-1]
    return x.copy()


def bound(a: Array, b: Array, text: str) -> Any:
    """What the terms sum up to without their signs, in wider numbers."""
    if text == TOWARDS.replace("START", "0.0"):
        y = bound(1 - a, 3 * a * b, IN_VARIABLE)
        return np.maximum.accumulate(y, axis=1)
    scope: dict[str, Any] = {"np": np}
    exec(text, scope)
    return scope["f"](*(np.abs(x.astype(np.longdouble)) for x in (a, b)))


def cases(count: int, seed: int) -> Iterator[tuple[Program, str, dict[str, int], list[Any]]]:
    """Each shape for each dtype and size of blocks, called so often."""
    rng = np.random.default_rng(seed)
    for shape in SHAPES:
        for dtype in ("float64", "float32", "int64"):
            if dtype == "int64" and shape in OF_FLOATS:
                continue
            text = shape.replace("START", "0" if dtype == "int64" else "0.0")
            parameters = tuple(Parameter(name, dtype, ("n", "m")) for name in "ab")
            for blocks, rows, lengths in SIZES:
                calls = []
                for _ in range(count):
                    n, m = int(rng.choice(rows)), int(rng.choice(lengths))
                    # rows of several kinds, so that one is run through in order and the next is not
                    a = [factors(rng, str(rng.choice(KINDS)), m, dtype) for _ in range(n)]
                    b = [terms(rng, str(rng.choice(ADDED)), m, dtype) for _ in range(n)]
                    given = (np.array(x, dtype).reshape(n, m) for x in (a, b))
                    calls.append(tuple(laid_out(rng, x) for x in given))
                yield Program("import numpy as np\n\n" + text, parameters, ()), text, blocks, calls


def checked(
    program: Program,
    text: str,
    blocks: Mapping[str, int],
    calls: list[Any],
    bound: Callable[..., Any],
) -> Iterator[str]:
    """What is wrong with the calls of one program."""
    emulation = installed()
    emulation.clear()
    programs.forget()
    made = converted(program, siblings=False, blocks=blocks)
    emulation.watched = [made.__globals__]
    if "_scan[" not in made.__globals__[TEXT]:
        yield f"{text}no block for each row"
    for a, b in calls:
        expected = program.function()(a.copy(), b.copy())
        most = bound(a, b, text) if a.dtype.kind == "f" else 0
        found = wrong(made(a, laid_out(np.random.default_rng(0), b)), expected, most, a.shape[1])
        if found:
            yield f"{text}{a.dtype} {a.shape} {blocks}: {found}"
        if left := emulation.reason():
            yield f"{text}not on the emulator: {left}"


def main() -> int:
    """Run what the command line asks for: calls of each, seed, and one program of how many."""
    count, seed, every = map(int, sys.argv[1:])
    return run(cases(count, seed), every, 20, bound, checked)


if __name__ == "__main__":
    sys.exit(main())
