"""Rows that end at the borders of warps and blocks, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.  The
emulator runs the module's own blocks and the warps of a GPU; a warp of the simulator is a thread.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np

from tests.programs.emulator import on_emulator
from tests.programs.simulator import on_simulator
from tests.programs.strategy import Parameter, Program
from tests.schedule.tiles_child import REAL, array

BLOCKS = {
    "emulator": {"THREADS": 256},
    "simulator": {"THREADS": 8, "SHORT": 6, "MAX_BLOCKS": 3, "ROOM_BYTES": 320},
}
#: rows: a block has 8 short ones; elements: a warp has 32 or 1 at a time, a block 256 or 8, and up
#: to 1024 or 6 make a short row, which keeps up to 512 or 5 of them (of 8 bytes) in shared memory
ROWS = {
    "emulator": (0, 1, 2, 7, 8, 9, 17, 65, 1, 3),
    "simulator": (0, 1, 7, 8, 9, 24, 25, 30, 2, 3),
}
LENGTHS = {
    "emulator": (1, 31, 32, 33, 511, 512, 513, 1024, 1025, 1500),
    "simulator": (1, 2, 5, 6, 7, 8, 9, 15, 16, 17),
}
#: what is computed, the axes of x among rows n and elements m, and the dtypes
FOLDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("x.sum(axis=1)", "nm", (*REAL, "int64", "int32", "uint8", "complex64", "complex128", "bool")),
    ("x.max(axis=1), x.min(axis=1)", "nm", (*REAL, "int32", "int64", "uint32", "int8")),
    ("x.mean(axis=1), x.var(axis=1), x.max(axis=1), x.min(axis=1)", "nm", REAL),
    ("x.argmax(axis=1), x.max(axis=1), x.argmin(axis=1)", "nm", (*REAL, "int32", "int64", "uint8")),
    ("(x > 0).any(axis=1), (x < 5).all(axis=1), (x > 0).sum(axis=1)", "nm", (*REAL, "int64")),
    ("np.exp(x - x.max(axis=1, keepdims=True)) / "
     "np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)", "nm", REAL),
    ("np.tanh(x) - np.tanh(x).mean(axis=1, keepdims=True)", "nm", REAL),
    ("np.tanh(x[:, ::-1]) * np.tanh(x).max(axis=1, keepdims=True)", "nm", REAL),
    ("(x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + 1)", "2nm", REAL),
    ("x[:, 1:].sum(axis=1) - x[:, :-1].sum(axis=1) * 2", "nm", (*REAL, "int64")),
    ("x.prod(axis=1) * x[:, 0]", "nm", (*REAL, "int64", "int32")),
)  # fmt: skip


def programs(engine: str, count: int, seed: int) -> Iterator[Program]:
    """Each fold for each dtype, called so often with sizes at borders: 10 times with all."""
    rng = np.random.default_rng(seed)
    for text, axes, dtypes in FOLDS:
        source = f"import numpy as np\n\n\ndef f(x):\n    return {text}\n"
        for dtype in dtypes:
            calls = []
            rows, lengths = (rng.permutation(e[engine])[:count] for e in (ROWS, LENGTHS))
            for n, m in zip(rows, lengths, strict=True):
                sizes = {"n": int(n), "m": int(m), "2": 2}
                calls.append((array(rng, dtype, tuple(sizes[axis] for axis in axes)),))
            yield Program(source, (Parameter("x", dtype, tuple(axes)),), tuple(calls))


def main() -> int:
    """Run all of them."""
    warnings.simplefilter("ignore")
    engine, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failed = done = 0
    for program in programs(engine, count, seed):
        if engine == "emulator":
            outcome = on_emulator(program, BLOCKS[engine])
        else:
            outcome = on_simulator(program, as_given=True, blocks=BLOCKS[engine])
        done += 1
        if outcome.word != "ok":
            failed += 1
            print(f"{program.source}{program.signature}: {outcome.word} {outcome.detail}")
    print(f"{done} programs, {failed} wrong")
    return int(failed > 0 or done < 30)


if __name__ == "__main__":
    sys.exit(main())
