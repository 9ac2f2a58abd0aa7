"""Programs that only the emulator shows to be wrong: run in a child process with the simulator's
host part, which prints a line for each one that is.

The simulator computes with NumPy's own numbers, so that these pass on it: what was found once,
and all of NumPy's universal functions of numbers at the limits of their types.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from tests.programs.emulator import on_emulator
from tests.programs.strategy import Parameter, Program

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NUMBERS = np.array([LEAST, MOST, -7, -1, 1, 2, 7])
SHIFTS = np.array([0, 63, 64, 65, -1, 2**33, LEAST])
POWERS = np.array([0, 1, 2, 64, 65536, 65537, 100003])
PLANE = np.arange(6.0).reshape(2, 3) - 2.5j

#: an expression of `x` (and of `y`), and what they are
FOUND: dict[str, tuple[Any, ...]] = {
    "x // y": (NUMBERS.repeat(7), np.tile(NUMBERS, 7)),
    "x // -1": (NUMBERS,),
    "x << y": (NUMBERS.repeat(7), np.tile(SHIFTS, 7)),
    "x >> y": (NUMBERS.repeat(7), np.tile(SHIFTS, 7)),
    "x << 70": (NUMBERS,),
    "np.right_shift(x, y)": (NUMBERS.astype(np.uint8), SHIFTS.astype(np.uint8)),
    "x ** y": (NUMBERS.repeat(7), np.tile(POWERS, 7)),
    "x ** abs(y)": (NUMBERS, POWERS),
    "x ** (y % 7).astype(np.uint16).astype(np.int8)": (NUMBERS, POWERS),
    "x << y.astype(np.uint8).astype(np.int8)": (NUMBERS, SHIFTS + 190),
    "np.int32(3) ** x": (POWERS.astype(np.uint32),),
    "np.floor_divide(x, y)": (np.array([-(2**31)] * 2, np.int32), np.array([-1, 3], np.int32)),
    "np.divmod(x, y)": (NUMBERS.repeat(7), np.tile(NUMBERS, 7)),
    "(x @ x[0]).sum()": (np.full((3, 5), 19, np.uint8),),
    "np.dot(x, x[:, 0]).prod(keepdims=True)": (np.full((3, 3), 19, np.int8),),
    "np.cumsum(x, dtype=np.int8) / 2": (np.full(70, 19, np.int8),),
    "np.cumprod(x, axis=1, dtype=np.uint8)[:, -1] / x[:, 0]": (np.full((3, 70), 3, np.uint8),),
    "np.left_shift(x, y)": (np.array([True, False]), np.array([True, True])),
    "x.sum(dtype=np.float64)": (PLANE,),
    "x.prod(axis=1, dtype=np.float32)": (PLANE.astype(np.complex64),),
    "np.cumsum(x[0], dtype=np.float64)": (PLANE,),
    "np.sign(x)": (np.array([-0.0, 0.0, -2.0, np.nan]),),
    "np.rad2deg(x)": (np.linspace(-3, 3, 40, dtype=np.float32),),
}


FLOATS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -7.25, np.nan, np.inf, -np.inf, 5e-324,
                   1e-40, 1e300, 3.4e38, 2.0**53 + 1, 708.0, -745.0, 89.0])  # fmt: skip
#: the types of one argument, and of two
ONE = ("float64", "float32", "int8", "int64", "uint64", "bool")
TWO = (
    *((t, t) for t in (*ONE, "uint8", "uint32")),
    *(("float64", "int64"), ("uint64", "int64"), ("uint8", "float32"), ("int32", "uint32")),
)


def limits(dtype: str) -> Any:
    """Numbers at the limits of a type, and some between."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        return FLOATS.astype(dtype)
    if kind == "b":
        return np.array([True, False])
    most = np.iinfo(dtype)
    below = [-1, -2, -7] if kind == "i" else []
    return np.array([most.min, most.max, 0, 1, 2, 7, 100, *below], dtype)


def sweep() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every universal function of one and two arrays, each pair of numbers."""
    functions = {f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nout == 1}
    for f in sorted(functions, key=lambda f: f.__name__):
        if f.nin == 1:
            yield from ((f"np.{f.__name__}(x)", (limits(t),)) for t in ONE)
        elif f.signature is None:
            for one, other in TWO:
                x, y = limits(one), limits(other)
                yield f"np.{f.__name__}(x, y)", (x.repeat(len(y)), np.tile(y, len(x)))


def program(text: str, arguments: tuple[Any, ...]) -> Program:
    """A function that returns the expression."""
    names = "xy"[: len(arguments)]
    source = f"import numpy as np\n\n\ndef f({', '.join(names)}):\n    return {text}\n"
    parameters = [
        Parameter(name, str(a.dtype), tuple(map(str, a.shape)))
        for name, a in zip(names, arguments, strict=True)
    ]
    return Program(source, tuple(parameters), (arguments,))


def main() -> int:
    """Run what was found, and each function of the sweep or one of as many as is said."""
    warnings.simplefilter("ignore")
    every = int(sys.argv[1])
    counts = {"ok": 0, "refused": 0, "wrong": 0}
    for number, (text, arguments) in enumerate((*FOUND.items(), *islice(sweep(), 0, None, every))):
        made = program(text, arguments)
        try:
            with np.errstate(all="ignore"):
                made.function()(*arguments)
        except (TypeError, ValueError):
            continue  # no such function of these types, or a negative power of an integer
        outcome = on_emulator(made)
        word = outcome.word if outcome.word in counts else "wrong"
        word = "wrong" if number < len(FOUND) and word != "ok" else word
        counts[word] += 1
        if word == "wrong":
            print(f"{text} of {made.signature}: {outcome.word} {outcome.detail}")
    print(counts)
    return int(counts["wrong"] > 0 or counts["ok"] < 500 // every)


if __name__ == "__main__":
    sys.exit(main())
