"""Calls kernels of a module that fold squares with the mean, on the simulator, and prints what
differs from NumPy: `python spreads_child.py MODULE SOURCE`."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np

#: of a result, how many last places it may be off where NumPy is not
PLACES = 32


def main(module: str, source: str) -> None:
    """Every function, dtype, kind of data and view; a line for each that differs."""
    warnings.simplefilter("ignore")
    made, original = (_loaded(Path(p)) for p in (module, source))
    # few threads and blocks: each folds several elements, and joins several groups
    made.THREADS, made.MOST_PARTIALS, made.BLOCK_X = 8, 3, 4
    made.LONG = 8
    for dtype in (np.float64, np.float32):
        for name, shape in _CASES:
            for kind, x in _data(shape, np.dtype(dtype)):
                for view in (x, x[::-1], x[1::2]) if kind == "random" else (x,):
                    _compare(made, original, name, kind, view)
    print("compared")


_CASES = (
    *(("of_all", (n,)) for n in (0, 1, 9, 97)),
    *(("four", (n,)) for n in (25,)),
    *(("of_columns", shape) for shape in ((0, 3), (3, 0), (1, 1), (31, 3))),
    *(("two", shape) for shape in ((13, 7),)),
)


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _data(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[tuple[str, Any]]:
    random = np.random.default_rng(sum(shape))
    z = random.standard_normal(shape).astype(dtype)
    wide = dtype == np.float64
    yield "random", z
    yield "constant", np.full(shape, 0.1, dtype)
    yield "large mean", (z + (1e8 if wide else 1e4)).astype(dtype)
    first = z + dtype.type(1000)
    first[:1] = 0
    yield "another first element", first
    for value in (np.nan, np.inf, -np.inf):
        one = z.copy()
        one.flat[z.size // 2 :][:1] = value
        yield str(value), one
    yield "overflow", z * dtype.type(1e200 if wide else 1e30)
    yield "underflow", z * dtype.type(1e-160 if wide else 1e-22)


def _compare(made: ModuleType, original: ModuleType, name: str, kind: str, x: Any) -> None:
    wanted, got = (_results(getattr(m, name), x) for m in (original, made))
    with np.errstate(all="ignore"):
        exact = _results(getattr(original, name), x.astype(np.longdouble))
    for k, (a, b, e) in enumerate(zip(wanted, got, exact, strict=True)):
        assert a.dtype == b.dtype and a.shape == b.shape, (name, kind, x.shape, a, b)
        if a.dtype.kind != "f":
            good = np.all(a == b)
        elif kind == "constant" and name != "four" and k == 0 and x.size:
            good = np.all(b == 0)
        else:
            bound = np.maximum(abs(a - e), PLACES * np.finfo(a.dtype).eps * abs(e))
            tiny = np.finfo(a.dtype).tiny
            good = np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (abs(b - e) <= bound + tiny))
        if not good:
            print(name, kind, x.dtype, x.shape, x.strides, f"result {k}: NumPy {a}, kernel {b}")


def _results(function: Any, x: Any) -> list[Any]:
    found = function(x)
    return [np.asarray(r) for r in (found if isinstance(found, tuple) else (found,))]


if __name__ == "__main__":
    main(*sys.argv[1:])
