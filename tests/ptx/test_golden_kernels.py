"""Every golden module's kernels, compiled for two architectures and run, beside NumPy."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.machine import Kernel, compiler, module
from tests.support.paths import EXAMPLES, GOLDEN

pytestmark = pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
DTYPES = ["float32", "float64"]
Inputs = Callable[[np.random.Generator, str], tuple[Any, ...]]


def normal(*shape: int) -> Inputs:
    return lambda rng, dtype: (rng.normal(size=shape).astype(dtype),)


def two(*shapes: tuple[int, ...]) -> Inputs:
    return lambda rng, dtype: tuple(rng.normal(size=s).astype(dtype) for s in shapes)


def options(rng: np.random.Generator, dtype: str) -> tuple[Any, ...]:
    price, strike = (rng.uniform(5, 100, 700).astype(dtype) for _ in range(2))
    return price, strike, rng.uniform(0.2, 3, 700).astype(dtype), 0.03, 0.2


def sparse(rng: np.random.Generator, dtype: str) -> tuple[Any, ...]:
    lengths = rng.integers(0, 9, 60)
    stops = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng.integers(0, 50, stops[-1])
    return (
        rng.normal(size=stops[-1]).astype(dtype), columns, stops.astype(np.int64),
        rng.normal(size=50).astype(dtype),
    )  # fmt: skip


def plane(rng: np.random.Generator, dtype: str) -> tuple[Any, ...]:
    return np.linspace(-2, 1, 45).astype(dtype), np.linspace(-1, 1, 33).astype(dtype), 40


CALLS: list[tuple[str, str, Inputs]] = [
    ("black_scholes", "normal_cdf", normal(900)),
    ("black_scholes", "black_scholes", options),
    ("csr_matvec", "csr_matvec", sparse),
    ("gaussian", "gaussian_pdf", lambda r, d: (r.normal(size=333).astype(d), 0.1, 1.5)),
    ("heat", "heat", lambda r, d: (r.normal(size=(40, 70)).astype(d), 0.1, 3)),
    ("hidden_layer", "hidden_layer", two((513,), (513,))),
    ("l2_norms", "l2_norms", normal(19, 300)),
    ("mandelbrot", "mandelbrot", plane),
    ("matmul", "matmul", two((37, 29), (29, 41))),
    ("pairwise", "pairwise_distances", two((21, 18), (35, 18))),
    ("row_normalize", "normalize", lambda r, d: (r.uniform(1, 2, (5, 77)).astype(d),)),
    ("row_normalize", "normalized", lambda r, d: (r.uniform(1, 2, (5, 600)).astype(d),)),
    ("sobel", "sobel", normal(33, 47)),
    ("softmax", "softmax", normal(9, 270)),
    ("threshold", "threshold", lambda r, d: (r.normal(size=1000).astype(d), 0.2)),
    ("threshold", "clip_outliers", lambda r, d: (r.normal(size=1000).astype(d), 0.7)),
    ("zscores", "zscores", normal(31, 66)),
]


@cache
def loaded(stem: str, arch: str) -> Any:
    return module(GOLDEN / f"{stem}_cuda.py", arch)


@cache
def original(stem: str) -> Any:
    spec = importlib.util.spec_from_file_location(stem, EXAMPLES / f"{stem}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_golden_module_is_run() -> None:
    stems = {path.stem.removesuffix("_cuda") for path in Path(GOLDEN).glob("*_cuda.py")}
    # of random numbers the distribution is verified
    assert {stem for stem, _, _ in CALLS} == stems - {"monte_carlo_pi"}


@pytest.mark.parametrize("arch", [pytest.param("sm_75", marks=pytest.mark.long), "sm_90"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[1])
def test_it_computes_what_numpy_does(call: tuple[str, str, Inputs], dtype: str, arch: str) -> None:
    stem, name, inputs = call
    made = loaded(stem, arch)
    args = inputs(np.random.default_rng(7), dtype)
    theirs = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    kernels = [k for k in vars(made).values() if isinstance(k, Kernel)]
    before = sum(k.launches for k in kernels)
    for kernel in kernels:
        kernel.seed = 3 if dtype == "float32" else None
    found, wanted = getattr(made, name)(*args), getattr(original(stem), name)(*theirs)
    assert sum(k.launches for k in kernels) > before
    pairs = list(zip(args, theirs, strict=True))
    pairs += (
        list(zip(found, wanted, strict=True)) if isinstance(wanted, tuple) else [(found, wanted)]
    )
    for one, other in pairs:
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype and one.shape == other.shape
            if other.dtype.kind != "f":
                # contracted to `fma`, products and sums may let a point escape a step later
                assert np.mean(one != other) < 0.005
                continue
            scale = 64 * np.finfo(dtype).eps
            np.testing.assert_allclose(one, other, rtol=scale, atol=scale * np.abs(other).max())
