"""Pipelined functions on late streams, compared with NumPy.

`python -m tests.streams.pipeline_child FOLDER [NAME...]` with NUMBA_ENABLE_CUDASIM=1:
`functions.py` is the source, `functions_cuda.py` the module.  Prints a line for everything that is
wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.streams.recorder import RECORDER, install

ROWS = (0, 1, 2, 5, 13)
#: few threads, which the simulator has to run
SMALL = {"THREADS": 4, "BLOCK_X": 4, "TILE": 4, "PADDED": 5, "EACH": 2, "WIDE": 8,
         "EACH_LARGE": 3, "WIDE_LARGE": 12}  # fmt: skip


def arguments(rng: np.random.Generator, n: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What the functions are called with, for so many rows."""
    table, other = rng.normal(size=(n, 5)), rng.normal(size=(n, 5))
    yield "scaled", (rng.normal(size=n), 0.5)
    yield "scaled", (table[:, ::2], 2.0)
    yield "scaled", (rng.normal(size=(n, 2, 3)), 2.0)
    yield "softmax", (table,)
    yield "shares", (rng.normal(size=(n, 3, 4)),)
    yield "product", (table, rng.normal(size=(5, 3)))
    yield "pair", (table, other)
    yield "pair", (table, other[:1])
    yield "pair", (table, other[:, :1])
    yield "steps", (table, 3)
    yield "differences", (table.astype(np.float32),)


def problems(source: dict[str, Any], module: dict[str, Any], names: Sequence[str]) -> Iterator[str]:
    """What is wrong with the results, or with the order of what was done."""
    module.update((n, size) for n, size in SMALL.items() if n in module)
    rng = np.random.default_rng(0)
    for n in ROWS:
        for name, given in arguments(rng, n):
            if names and name not in names:
                continue
            wanted = source[name](*given)
            for bytes_, streams, seed in ((1, 3, None), (130, 3, 1), (130, 2, None), (300, 4, 2)):
                module["CHUNK_BYTES"], module["STREAMS"] = bytes_, streams
                RECORDER.reset(seed)
                found = module[name](*given)
                many = isinstance(wanted, tuple)
                pairs = zip(wanted, found, strict=True) if many else [(wanted, found)]
                where = f"{name}, {n} rows, {bytes_} bytes, {streams} streams, seed {seed}"
                for one, two in pairs:
                    if one.shape != two.shape or one.dtype != two.dtype:
                        yield f"{where}: {two.dtype}{two.shape}, not {one.dtype}{one.shape}"
                    elif not np.allclose(one, two, rtol=1e-6, equal_nan=False):
                        yield f"{where}: other values"
                yield from (f"{where}: {c}" for c in RECORDER.complaints)
                busy = RECORDER.busiest
                if bytes_ == 1 and n > 3 and busy != streams:
                    yield f"{where}: {busy} streams work at once"


def main(folder: str, *names: str) -> None:
    """Print what is wrong."""
    install()
    spaces = []
    for name in ("functions.py", "functions_cuda.py"):
        path = Path(folder, name)
        space: dict[str, Any] = {"__name__": name, "__file__": str(path)}
        exec(compile(path.read_text(), str(path), "exec"), space)
        spaces.append(space)
    with np.errstate(all="ignore"):
        for problem in dict.fromkeys(problems(spaces[0], spaces[1], names)):
            print(problem)


if __name__ == "__main__":
    main(*sys.argv[1:])
