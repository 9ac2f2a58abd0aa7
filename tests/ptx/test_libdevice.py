"""Functions of libdevice, atomics, random numbers and narrow integers, as Numba compiles them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda

from tests.support.machine import compiler, kernel

pytestmark = pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
RNG = np.random.default_rng(3)
#: the function, and the largest error of CUDA's documentation in ulp of float32 and float64 (for
#: lgamma that of the reference as well)
FUNCTIONS = {
    "sin": (2, 2), "cos": (2, 2), "tan": (4, 2), "asin": (2, 2), "acos": (2, 2), "atan": (2, 2),
    "sinh": (3, 2), "cosh": (2, 1), "tanh": (2, 1), "asinh": (3, 3), "exp": (2, 1),
    "expm1": (1, 1), "log": (1, 1), "log2": (1, 1), "log10": (2, 1), "log1p": (1, 1),
    "erf": (2, 2), "erfc": (4, 5), "lgamma": (6, 9), "sqrt": (0, 0), "floor": (0, 0),
    "ceil": (0, 0),
}  # fmt: skip


def made(text: str, **names: Any) -> Any:
    """A kernel of one line, whose function is found by its text."""
    names |= {"cuda": cuda, "math": math, "np": np}
    exec(f"def found(x, y, o):\n    i = cuda.grid(1)\n    if i < o.size:\n        {text}", names)
    return kernel(names["found"])


def ulps(found: Any, wanted: Any) -> float:
    exact = np.array(wanted, np.float64)
    size = np.spacing(np.abs(exact.astype(found.dtype))).astype(np.float64)
    return float(np.max(np.abs(found.astype(np.float64) - exact) / size))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_as_exact_as_documented(name: str) -> None:
    low, high = {"asin": (-1, 1), "acos": (-1, 1), "lgamma": (3, 60)}.get(name, (-20, 20))
    least = {"log": 1e-3, "log2": 1e-3, "log10": 1e-3, "log1p": 0, "sqrt": 0, "erfc": -3}
    low = least.get(name, low)
    high = 5 if name in ("erfc", "expm1") else high
    run = made(f"o[i] = math.{name}(x[i])")
    for dtype, most in zip(("float32", "float64"), FUNCTIONS[name], strict=True):
        x = RNG.uniform(low, high, 500).astype(dtype)
        found = np.zeros_like(x)
        run[4, 128](x, x, found)
        wanted = [float(getattr(math, name)(float(v))) for v in x]
        # the reference, in float64, has an error of its own
        assert ulps(found, wanted) <= most + (1 if dtype == "float64" else 0.5), dtype


def test_large_angles_take_the_slow_way() -> None:
    x = np.concatenate([10.0 ** RNG.uniform(5, 300, 60), [0.1] * 68])
    found = np.zeros_like(x)
    made("o[i] = math.sin(x[i])")[1, 128](x, x, found)
    assert ulps(found, [math.sin(v) for v in x]) <= 2


BINARY: list[tuple[str, Callable[..., Any]]] = [
    ("x[i] // y[i]", np.floor_divide), ("x[i] % y[i]", np.mod), ("x[i] * y[i]", np.multiply),
    ("x[i] - y[i]", np.subtract), ("x[i] & y[i]", np.bitwise_and), ("min(x[i], y[i])", np.minimum),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_every_width(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x, y = (RNG.integers(limits.min, limits.max, 300, dtype, endpoint=True) for _ in range(2))
    x[:3], y[y == 0] = (limits.min, limits.max, 0), 3
    for text, function in BINARY:
        found = np.zeros_like(x)
        made(f"o[i] = {text}")[3, 128](x, y, found)
        assert (found == function(x, y)).all(), text


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "max", "min", "exch"])
def test_atomics(name: str, dtype: str) -> None:
    if name == "exch" and dtype.startswith("float"):
        pytest.skip("Numba has it for integers")
    x, found = RNG.integers(-99, 99, 256).astype(dtype), np.zeros(4, dtype)
    run = made(f"pass\n    cuda.atomic.{name}(o, i % 4, x[i])")
    run.seed = 1
    run[2, 128](x, x, found)
    parts = x.reshape(-1, 4)
    wanted = {
        "add": parts.sum(axis=0), "max": parts.max(axis=0).clip(0),
        "min": parts.min(axis=0).clip(None, 0),
    }  # fmt: skip
    if name == "exch":
        assert all(value in column for value, column in zip(found, parts.T, strict=True))
    else:
        assert (found == wanted[name]).all()


def test_complex_numbers_tuples_flags_and_none() -> None:
    def weighed(z: Any, c: Any, t: Any, flag: Any, none: Any, o: Any) -> None:
        i = cuda.grid(1)
        if i < o.size and flag and none is None:
            o[i] = z[i] * c + t[0] / t[1]

    z = RNG.normal(size=70) + 1j * RNG.normal(size=70)
    for step in (1, 2, -1):
        given, found = z[::step], np.zeros(z[::step].size, complex)
        kernel(weighed)[1, 96](given, 2 - 3j, (3, np.float32(2)), True, None, found)
        np.testing.assert_allclose(found, given * (2 - 3j) + 1.5, rtol=1e-14)
