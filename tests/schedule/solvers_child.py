"""Systems of equations of sizes at the borders of panels and blocks, on Numba's simulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from porter.codegen.module.module import module_text
from tests.end_to_end.ranks import converted

Function = Callable[..., Any]
#: blocks as small as the sizes; with the second PANEL no column of 5 rows is in shared memory
BLOCKS = (
    {"BLOCK_X": 4, "EACH": 2, "MANY_THREADS": 8, "PANEL": 18, "WIDTH": 2, "THREADS": 8},
    {"BLOCK_X": 2, "EACH": 2, "MANY_THREADS": 4, "PANEL": 4, "WIDTH": 2, "THREADS": 4},
)
#: the first ones have a panel and a part of one, with one or several columns in shared memory
SIZES = (5, 0, 3, 9, 1, 2, 4, 7, 8, 13, 19)
SOURCE = """
import numpy as np


def f(a, b):
    return np.linalg.solve(a, b), np.linalg.det(a)


def inverse(a):
    return np.linalg.inv(a)
"""


def functions(dtype: str, ndim: int, right: int) -> Iterator[tuple[Function, Function]]:
    """`f` and `inverse` for matrices of so many dimensions, with each choice of blocks."""
    matrices, sides = (f"{dtype}[{', '.join(':' * n)}]" for n in (ndim, right))
    texts = [converted(SOURCE, "f", f"{matrices}, {sides}"), converted(SOURCE, "inverse", matrices)]
    for blocks in BLOCKS:
        scope: dict[str, Any] = {"__name__": "generated"}
        for made in texts:
            text = module_text(made.texts, "")
            for name, size in blocks.items():
                text = re.sub(rf"^{name} = \d+", f"{name} = {size}", text, flags=re.M)
            exec(compile(text, "<generated>", "exec"), scope)
        yield scope["f"], scope["inverse"]


def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers of a dtype; as integers, many are equal and some are 0: ties among pivots."""
    made = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.normal(size=shape)
    return (np.round(3 * made) if rng.random() < 0.3 else made).astype(dtype)


def differ(found: Any, expected: Any, condition: float) -> bool:
    """Whether two results are further apart than rounding moves them."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return True
    size = float(np.max(np.abs(expected), initial=np.finfo(expected.dtype).tiny))
    apart = float(np.max(np.abs(found - expected), initial=0.0))
    return apart > 50 * condition * np.finfo(expected.dtype).eps * size


def main() -> int:
    """Solve systems of so many sizes; 1 if a result is wrong."""
    warnings.simplefilter("ignore")
    dtype, ndim, right, count, seed = sys.argv[1], *map(int, sys.argv[2:6])
    rng, failed, done = np.random.default_rng(seed), 0, 0
    for f, inverse in functions(dtype, ndim, right):
        for n in SIZES[:count]:
            a = numbers(rng, dtype, (2,) * (ndim - 2) + (n, n))
            lead = a.shape[: max(right - 2, 0)]
            b = numbers(rng, dtype, (n,) if right == 1 else (*lead, n, int(rng.choice([1, 3, 5]))))
            given = a.copy(), b.copy()
            condition = float(np.max(np.linalg.cond(a), initial=1.0)) if n else 1.0
            if not condition < 1e4:
                continue  # rounding decides
            done += 1
            solution, determinant = f(a, b)
            wrong = [
                what
                for what, found, expected, factor in (
                    ("solution", solution, np.linalg.solve(a, b), condition),
                    ("determinant", np.asarray(determinant), np.asarray(np.linalg.det(a)), 4 * n),
                    ("inverse", inverse(a), np.linalg.inv(a), condition),
                )
                if differ(found, expected, factor)
            ]
            if not (np.array_equal(a, given[0]) and np.array_equal(b, given[1])):
                wrong.append("arguments afterwards")
            if wrong:
                failed += 1
                print(f"{dtype} {a.shape} {b.shape}: {', '.join(wrong)}")
    print(f"{done} systems, {failed} wrong")
    return int(failed > 0 or done < count)


if __name__ == "__main__":
    sys.exit(main())
