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
    for name, shape in _AT_BORDERS:
        for dtype in (np.float64, np.float32):
            for kind, x in _data(shape, np.dtype(dtype)):
                if kind in ("random", "nan", "inf", "sums overflow"):
                    for view in (x, x[::-1], x[1::2]) if kind == "random" else (x,):
                        _compare(made, original, name, kind, view)
    # few threads and blocks: each folds several elements, and joins several groups
    made.THREADS, made.MOST_PARTIALS, made.BLOCK_X = 8, 3, 4
    made.LONG = 8
    for dtype in (np.float64, np.float32):
        for name, shape in _CASES:
            for kind, x in _data(shape, np.dtype(dtype)):
                for view in (x, x[::-1], x[1::2]) if kind in _VIEWED else (x,):
                    _compare(made, original, name, kind, view)
    print("compared")


#: of warps, blocks and grids
_AT_BORDERS = (
    *(("of_all", (n,)) for n in (0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 1301)),
    *(("of_columns", (n, 2)) for n in (63, 64, 65, 255, 256, 257, 1023, 1025)),
    *(("of_columns", (67, n)) for n in (31, 33)),
    *(("two", shape) for shape in ((8, 32), (9, 33), (3, 257))),
)
_CASES = (
    *(("of_all", (n,)) for n in (0, 1, 2, 9, 97)),
    *(("four", (n,)) for n in (25,)),
    *(("of_columns", shape) for shape in ((0, 3), (3, 0), (1, 1), (31, 3))),
    *(("two", shape) for shape in ((13, 7),)),
)
_VIEWED = ("random", "first nan", "last inf", "both infinities")
#: where a sum of both signs overflows, it is infinite or NaN by its order
_BY_ORDER = "sums of both signs overflow"


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
        for where, at in (("", z.size // 2), ("first ", 0), ("last ", max(z.size - 1, 0))):
            one = z.copy()
            one.flat[at:][:1] = value
            yield f"{where}{value}", one
    for kind, values in (("both infinities", (np.inf, -np.inf)), ("nan, inf", (np.nan, np.inf))):
        both = z.copy()
        for k, value in enumerate(values):
            both.flat[(k + 1) * z.size // 3 :][:1] = value
        yield kind, both
    yield "overflow", z * dtype.type(1e200 if wide else 1e30)
    most = np.finfo(dtype).max
    yield "sums overflow", (most * (0.75 + 0.01 * abs(np.tanh(z)))).astype(dtype)
    yield "sums overflow below 0", np.full(shape, -0.75 * most, dtype)
    yield "no sum overflows", np.full(shape, 2.0 ** np.floor(np.log2(most / (z.size + 1))), dtype)
    signs = np.where(np.arange(z.size) % 16 < 8, most, -most).astype(dtype)
    yield _BY_ORDER, (signs * dtype.type(0.75)).reshape(shape)
    one = np.zeros(shape, dtype)
    one.flat[z.size // 2 :][:1] = most
    yield "one of the largest", one
    yield "underflow", z * dtype.type(1e-160 if wide else 1e-22)


def _compare(made: ModuleType, original: ModuleType, name: str, kind: str, x: Any) -> None:
    wanted, got = (_results(getattr(m, name), x) for m in (original, made))
    with np.errstate(all="ignore"):
        exact = _results(getattr(original, name), x.astype(np.longdouble))
    for k, (a, b, e) in enumerate(zip(wanted, got, exact, strict=True)):
        assert a.dtype == b.dtype and a.shape == b.shape, (name, kind, x.shape, a, b)
        if a.dtype.kind != "f":
            good = np.all(a == b)
        elif kind == _BY_ORDER:
            good = np.all(np.isfinite(a) == np.isfinite(b))
        elif not np.array_equal(_pattern(a), _pattern(b)):
            good = False
        elif kind == "constant" and name != "four" and k == 0 and x.size:
            good = np.all(b == 0)
        else:
            bound = np.maximum(abs(a - e), PLACES * np.finfo(a.dtype).eps * abs(e))
            tiny = np.finfo(a.dtype).tiny
            good = np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (abs(b - e) <= bound + tiny))
        if not good:
            print(name, kind, x.dtype, x.shape, x.strides, f"result {k}: NumPy {a}, kernel {b}")


def _pattern(a: Any) -> Any:
    """Where there is NaN, or which infinity."""
    return np.where(np.isfinite(a), 0, np.where(np.isnan(a), 2, np.sign(a)))


def _results(function: Any, x: Any) -> list[Any]:
    found = function(x)
    return [np.asarray(r) for r in (found if isinstance(found, tuple) else (found,))]


if __name__ == "__main__":
    main(*sys.argv[1:])
