"""Programs that only the emulator showed to be wrong: run in a child process with the simulator's
host part, which prints a line for each one that is wrong still.

The simulator computes with NumPy's own numbers, so that these pass on it.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from programs import Parameter, Program
from programs_emulator import on_emulator

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
    "np.int32(3) ** x": (POWERS.astype(np.uint32),),
    "np.floor_divide(x, y)": (np.array([-(2**31)] * 2, np.int32), np.array([-1, 3], np.int32)),
    "np.divmod(x, y)": (NUMBERS.repeat(7), np.tile(NUMBERS, 7)),
    "(x @ x[0]).sum()": (np.full((3, 5), 19, np.uint8),),
    "np.dot(x, x[:, 0]).prod(keepdims=True)": (np.full((3, 3), 19, np.int8),),
    "np.cumsum(x, dtype=np.int8) / 2": (np.full(70, 19, np.int8),),
    "np.cumprod(x, axis=1, dtype=np.uint8)[:, -1] / x[:, 0]": (np.full((3, 70), 3, np.uint8),),
    "x.sum(dtype=np.float64)": (PLANE,),
    "x.prod(axis=1, dtype=np.float32)": (PLANE.astype(np.complex64),),
    "np.cumsum(x[0], dtype=np.float64)": (PLANE,),
    "np.sign(x)": (np.array([-0.0, 0.0, -2.0, np.nan]),),
    "np.rad2deg(x)": (np.linspace(-3, 3, 40, dtype=np.float32),),
}


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
    """Run all of them."""
    warnings.simplefilter("ignore")
    wrong = 0
    for text, arguments in FOUND.items():
        outcome = on_emulator(program(text, arguments))
        if outcome.word != "ok":
            wrong += 1
            print(f"{text}: {outcome.word} {outcome.detail}")
    print(f"{len(FOUND)} programs, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
