"""Contractions whose axes end at the borders of tiles, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.  The
emulator runs the kernels with the module's own blocks, the simulator with small ones; both run the
kernels for large arrays with any.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.emulator import on_emulator
from tests.programs.simulator import on_simulator
from tests.programs.strategy import Parameter, Program

#: rows, columns and terms: each size meets others in each place
EDGES = {
    "emulator": (0, 1, 16, 17, 64, 65, 128, 129, 199),
    "simulator": (0, 1, 4, 5, 8, 9, 12, 13, 31),
}
OWN = {"STRIP": 8, "TILE": 16, "EACH": 4, "EACH_LARGE": 8}
SMALL = {"STRIP": 2, "TILE": 4, "EACH": 2, "EACH_LARGE": 3, "THREADS": 8, "BLOCK_X": 4,
         "MOST_PARTIALS": 3}  # fmt: skip
#: which kernels run: large tiles, those of parts, or strips where the right operand has them, for
#: products of any size
KINDS = {"large": {"LARGE": 1}, "split": {"LONG": 0}, "strip": {"LONG": 10**6}}
REAL, ALL = (
    ("float32", "float64"),
    ("float32", "float64", "complex64", "complex128", "int32", "int64"),
)
#: what is computed, the axes of x and of y among rows n, columns m, terms k, and the dtypes
PRODUCTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("x @ y", "nk", "km", ALL),
    ("x.T @ y", "kn", "km", ALL),
    ("x @ y.T", "nk", "mk", ALL),
    ("x[::-1, ::-1] @ y[:, ::-1]", "nk", "km", REAL),
    ("np.maximum(x @ y + 1, x[:, :1])", "nk", "km", REAL),
    ("x @ y", "2nk", "2km", ("float32", "complex128", "int64")),
    ("np.einsum('ki,kj->ij', x, y) - 1", "kn", "km", ("float64", "int32")),
    ("((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)", "nk", "mk", (*REAL, "int64")),
    ("np.abs(x[:, None, :] - y[None, :, :]).max(axis=2)", "nk", "mk", REAL),
    ("(x[:, None, :] + y[None, :, :]).min(axis=2)", "nk", "mk", REAL),
)  # fmt: skip


def array(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers of a dtype, or truths; of real ones some are no numbers, or infinite."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    made = rng.normal(size=shape)
    if kind == "c":
        return (made + 1j * rng.normal(size=shape)).astype(dtype)
    if rng.integers(0, 2) and made.size:
        places = rng.integers(0, made.size, 2)
        made.reshape(-1)[places] = rng.choice([np.nan, np.inf, -np.inf], 2)
    return made.astype(dtype)


def programs(engine: str, count: int, seed: int) -> Iterator[Program]:
    """Each product for each dtype, called so often with sizes at borders: 9 times with all."""
    rng, edges = np.random.default_rng(seed), EDGES[engine]
    for text, left, right, dtypes in PRODUCTS:
        source = f"import numpy as np\n\n\ndef f(x, y):\n    return {text}\n"
        for dtype in dtypes:
            turned = [rng.permutation(edges)[:count] for _ in "nmk"]
            calls = []
            for n, m, k in zip(*turned, strict=True):
                if "max(" in text or "min(" in text or ":1" in text:
                    k = max(k, 1)
                sizes = {"n": int(n), "m": int(m), "k": int(k), "2": 2}
                shapes = (tuple(sizes[axis] for axis in axes) for axes in (left, right))
                calls.append(tuple(array(rng, dtype, shape) for shape in shapes))
            taken = tuple(
                Parameter(name, dtype, tuple(axes)) for name, axes in (("x", left), ("y", right))
            )
            yield Program(source, taken, tuple(calls))


def wrong(found: Iterator[Program], engine: str, kind: str, least: int) -> int:
    """1 if a program is wrong, or if there are fewer than the least number."""
    own, small = ({**blocks, **KINDS[kind]} for blocks in (OWN, SMALL))
    failed = done = 0
    for program in found:
        if engine == "emulator":
            outcome = on_emulator(program, own)
        else:
            outcome = on_simulator(program, as_given=True, blocks=small)
        done += 1
        if outcome.word != "ok":
            failed += 1
            print(f"{program.source}{program.signature}: {outcome.word} {outcome.detail}")
    print(f"{done} programs, {failed} wrong")
    return int(failed > 0 or done < least)


def main() -> int:
    """Run all of them."""
    warnings.simplefilter("ignore")
    engine, kind, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    return wrong(programs(engine, count, seed), engine, kind, 25)


if __name__ == "__main__":
    sys.exit(main())
