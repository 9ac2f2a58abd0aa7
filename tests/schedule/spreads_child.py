"""Variances found with the mean, against NumPy's, on the simulator or the emulator.

Needs NUMBA_ENABLE_CUDASIM=1 before Numba is imported.  Prints a line for each wrong result.  The
emulator runs blocks and warps of a GPU, the simulator small blocks.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.programs.emulator import installed
from tests.programs.simulator import converted, prepare
from tests.programs.strategy import Parameter, Program

#: of a result, how many last places it may be off where NumPy is not
PLACES = 32
#: no more blocks than these, so that threads fold several elements, and groups are joined
BLOCKS = {
    "emulator": {"THREADS": 256, "MOST_PARTIALS": 3},
    "simulator": {"THREADS": 8, "MOST_PARTIALS": 3, "BLOCK_X": 4, "LONG": 8},
}
#: what is computed, with the shapes of x: at borders of warps, blocks and grids, and a prime
FOLDS: dict[str, dict[str, tuple[tuple[int, ...], ...]]] = {
    "x.var()": {
        "emulator": tuple((n,) for n in (0, 1, 2, 31, 32, 33, 255, 256, 257, 767, 768, 769, 1023,
                                         1024, 1025, 1301, 23_011)),
        "simulator": ((0,), (1,), (2,), (7,), (8,), (9,), (23,), (24,), (25,), (97,)),
    },
    "x.mean(), x.std(ddof=1), x.min(), x.max(), x.argmax()": {
        "emulator": ((257,), (1301,)),
        "simulator": ((25,),),
    },
    "x.std(axis=0), x.mean(axis=0)": {
        "emulator": ((0, 3), (3, 0), (1, 1), (31, 3), (32, 3), (33, 3), (63, 2), (64, 2), (65, 2),
                     (255, 2), (256, 2), (257, 2), (1023, 3), (1024, 3), (1025, 3), (1301, 2),
                     (67, 31), (67, 32), (67, 33), (131, 257)),
        "simulator": ((0, 3), (3, 0), (1, 1), (7, 3), (9, 3), (31, 3), (17, 5)),
    },
    "((x.mean() - x) * (x.mean() - x)).sum(), x.var(), x.mean()": {
        "emulator": ((0, 3), (1, 1), (8, 32), (9, 33), (3, 257), (129, 65)),
        "simulator": ((13, 7),),
    },
}  # fmt: skip


def main() -> int:
    """Every function, dtype, kind of data and view."""
    warnings.simplefilter("ignore")
    engine = sys.argv[1]
    emulation = installed() if engine == "emulator" else prepare()
    failed = done = 0
    for text, shapes in FOLDS.items():
        taken = (Parameter("x", "float64", tuple("nm"[: len(shapes[engine][0])])),)
        program = Program(f"import numpy as np\n\n\ndef f(x):\n    return {text}\n", taken, ())
        made, original = converted(program, blocks=BLOCKS[engine]), program.function()
        for shape in shapes[engine]:
            for dtype in map(np.dtype, ("float64", "float32")):
                for kind, x in _data(shape, dtype):
                    views = (x, x[::-1], x[1::2], x[..., ::-1])
                    for view in views if kind in _VIEWED else (x,):
                        failed += _differs(made, original, text, kind, view)
                        done += 1
    if engine == "emulator":
        assert emulation is not None and not emulation.reason(), "not run on the emulator"
    print(f"{done} arrays, {failed} wrong")
    return int(failed > 0 or done < 100)


_VIEWED = ("random", "first nan", "last inf", "both infinities")
#: where a sum of both signs overflows, it is infinite or NaN by its order
_BY_ORDER = "sums of both signs overflow"
#: where the squares from a mean do not overflow, those from the mean of the first elements may
_AT_THE_LIMIT = "at the limit"


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
    squares = float(((z.astype(np.float64) - z.mean()) ** 2).sum()) if z.size > 1 else 1.0
    for kind, share in (("below the limit", 8), (_AT_THE_LIMIT, 1.01)):
        yield kind, (z * np.sqrt(float(most) / share / squares)).astype(dtype)
    one = np.zeros(shape, dtype)
    one.flat[z.size // 2 :][:1] = most
    yield "one of the largest", one
    yield "underflow", z * dtype.type(1e-160 if wide else 1e-22)


def _differs(
    made: Callable[..., Any], original: Callable[..., Any], text: str, kind: str, x: Any
) -> bool:
    """Whether a result is not NumPy's, or further from the exact one; says so."""
    wanted, got = _results(original, x), _results(made, x)
    exact = _results(original, x.astype(np.longdouble))
    for part, a, b, e in zip(text.split(", "), wanted, got, exact, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, (text, kind, x.shape, a, b)
        if a.dtype.kind != "f":
            good = np.all(a == b)
        elif kind == _BY_ORDER:
            good = part.startswith("x.mean") or np.all(np.isfinite(a) == np.isfinite(b))
        elif not np.array_equal(_pattern(a), _pattern(b)) and kind != _AT_THE_LIMIT:
            good = False
        elif kind == "constant" and part.startswith(("x.var", "x.std")):
            good = np.all((b == 0) | (b == a)) or x.size == 0  # a thread that folds twice
        else:
            # what is added up for a mean may cancel; the square of what is tiny is no number
            size = (
                np.max(abs(x), where=np.isfinite(x), initial=0)
                if part.startswith("x.mean")
                else abs(e)
            )
            bound = np.maximum(abs(a - e), PLACES * np.finfo(a.dtype).eps * size)
            tiny = np.finfo(a.dtype).tiny
            near = abs(b - e) <= bound + (np.sqrt(tiny) if "std" in part else tiny)
            good = np.all((a == b) | np.isnan(a) | near | (np.isinf(b) & (kind == _AT_THE_LIMIT)))
        if not good:
            print(f"{part}: {kind} {x.dtype}{x.shape} {x.strides}: NumPy {a}, kernel {b}"[:200])
            return True
    return False


def _pattern(a: Any) -> Any:
    """Where there is NaN, or which infinity."""
    return np.where(np.isfinite(a), 0, np.where(np.isnan(a), 2, np.sign(a)))


def _results(function: Any, x: Any) -> list[Any]:
    found = function(x)
    return [np.asarray(r) for r in (found if isinstance(found, tuple) else (found,))]


if __name__ == "__main__":
    sys.exit(main())
