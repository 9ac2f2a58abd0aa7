"""Columns that end at the borders of blocks, threads and parts, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np

from tests.programs.strategy import Parameter, Program
from tests.schedule.tiles_child import ALL, REAL, array, wrong

#: rows: a block has 8 or 2 of them at a time, and a part 8 times as many; columns: a
#: block has 32 or 4 of them
ROWS = {
    "emulator": (0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 300),
    "simulator": (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 48, 50),
}
COLUMNS = {
    "emulator": (0, 1, 2, 3, 8, 9, 31, 32, 33, 40, 64, 65),
    "simulator": (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17),
}
#: what is computed, the axes of x among rows n and columns m, and the dtypes
FOLDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("x.sum(axis=0)", "nm", (*ALL, "int8", "uint8", "bool")),
    ("x.min(axis=0), x.max(axis=0), x.sum(axis=0) / 2", "nm", (*REAL, "int32", "int64")),
    ("x.argmax(axis=0), x.max(axis=0), x.argmin(axis=0)", "nm", (*REAL, "int32", "int64")),
    ("x[::-1, ::-1].mean(axis=0)", "nm", REAL),
    ("(x - x.mean(axis=0)) / (x.std(axis=0) + 1)", "nm", REAL),
    ("x.sum(axis=1)", "2nm", (*REAL, "int64")),
    ("np.abs(x).max(axis=0) + x[0]", "n2m", (*REAL, "int32")),
    ("x.sum(axis=(0, 1)), x.max(axis=(0, 1))", "n3m", (*REAL, "int32")),
    ("(x > 0).any(axis=0), (x < 5).all(axis=0), (x > 0).sum(axis=0)", "nm", (*REAL, "int32")),
    ("np.arange(x.shape[0]) @ x - x[:1]", "nm", ("float64", "complex64", "int64")),
    ("x[1:, 1:].prod(axis=0)", "nm", ("float64", "int64")),
)


def programs(engine: str, count: int, seed: int) -> Iterator[Program]:
    """Each fold for each dtype, called so often with sizes at borders: 12 times with all."""
    rng = np.random.default_rng(seed)
    for text, axes, dtypes in FOLDS:
        source = f"import numpy as np\n\n\ndef f(x):\n    return {text}\n"
        raising = any(word in text for word in ("max", "min", "[0]", "[:1]"))
        for dtype in dtypes:
            calls = []
            rows, columns = (rng.permutation(e[engine])[:count] for e in (ROWS, COLUMNS))
            for n, m in zip(rows, columns, strict=True):
                sizes = {"n": max(int(n), int(raising)), "m": int(m), "2": 2, "3": 3}
                calls.append((array(rng, dtype, tuple(sizes[axis] for axis in axes)),))
            yield Program(source, (Parameter("x", dtype, tuple(axes)),), tuple(calls))


def main() -> int:
    """Run all of them."""
    warnings.simplefilter("ignore")
    engine, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    return wrong(programs(engine, count, seed), engine, "split", 30)


if __name__ == "__main__":
    sys.exit(main())
