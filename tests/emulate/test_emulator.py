"""The emulator: kernels do what they do on a GPU, and what is wrong is named."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.codegen.module.header import parse
from porter.emulate.errors import BarrierError, LaunchError, OutOfBounds, Unsupported
from porter.emulate.launch import launch
from porter.verify.run import verify_module
from tests.support import emulator_kernels as kernels
from tests.support.commands import porter
from tests.support.paths import EXAMPLES, GOLDEN, VERIFY_MODULES

MODULES = sorted(GOLDEN.glob("*_cuda.py"))
RNG = np.random.default_rng(7)


def line_of(text: str, function: str) -> int:
    """The line of `emulator_kernels.py` on which a text stands, first after `def function`."""
    lines = Path(kernels.__file__).read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {function}("))
    return next(k for k in range(start, len(lines)) if text in lines[k]) + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_million_threads(dtype: Any) -> None:
    x, y = RNG.random(1_000_003).astype(dtype), RNG.random(1_000_003).astype(dtype)
    out = np.zeros_like(x)
    launch(kernels.saxpy, 3907, 256, (dtype(3), x, y, out))
    # the product and the sum are two roundings, as NumPy has them
    assert np.array_equal(out, dtype(3) * x + y)


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("threads", [1, 32, 128])
def test_barriers_in_a_device_function(threads: int, seed: int | None) -> None:
    x = RNG.random((23, 301))
    out = np.full(23, np.nan)
    launch(kernels.row_sums, 5, threads, (x, out), seed=seed)
    assert np.allclose(out, x.sum(axis=1), rtol=1e-13)


def test_an_early_return_of_a_device_function_with_barriers() -> None:
    x = RNG.random(64).astype(np.float32)
    out = np.zeros(64, np.float32)
    launch(kernels.means, 2, 32, (x, out))
    assert np.allclose(out, np.repeat(3 * x.reshape(2, 32).mean(axis=1), 32), rtol=1e-5)
    launch(kernels.means, 64, 1, (x, out))
    assert np.allclose(out, 3 * x, rtol=1e-6)


def test_tiles() -> None:
    x = RNG.random((37, 21)).astype(np.float32)
    out = np.zeros((21, 37), np.float32)
    launch(kernels.transpose, (3, 5), (8, 8), (x, out))
    assert np.array_equal(out, x.T)


def test_a_histogram_in_shared_memory() -> None:
    x = RNG.integers(0, kernels.BINS, 100_000)
    out = np.zeros(kernels.BINS, np.int32)
    launch(kernels.histogram, 7, 96, (x, out))
    assert np.array_equal(out, np.bincount(x, minlength=kernels.BINS))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_atomics_give_the_old_value(dtype: Any) -> None:
    x = np.arange(1, 9, dtype=dtype)
    out = np.array([0, 0, 3, 3, -1, -1, 0, 0], dtype)
    old = np.zeros((6, 8), dtype)
    launch(kernels.atomics, 1, 8, (x, out, old), seed=None)
    assert out.tolist() == [36, -36, 8, 1, 8, 1, 0, 0]
    assert old[0].tolist() == [0, 1, 3, 6, 10, 15, 21, 28]
    assert old[2].tolist() == [3, 3, 3, 3, 4, 5, 6, 7]
    assert old[3].tolist() == [3, 1, 1, 1, 1, 1, 1, 1]
    assert old[4].tolist() == [-1, 1, 2, 3, 4, 5, 6, 7]
    assert old[5].tolist() == [-1, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_shuffles(dtype: Any) -> None:
    x = RNG.integers(0, 100, 64).astype(dtype)
    out = np.zeros((5, 64), dtype)
    launch(kernels.shuffles, 1, 64, (x, out))
    lane, first = np.arange(64) % 32, np.arange(64) // 32 * 32
    assert np.array_equal(out[0], x[first + 3])
    assert np.array_equal(out[1], x[first + np.where(lane < 2, lane, lane - 2)])
    assert np.array_equal(out[2], x[first + np.where(lane > 30, lane, lane + 1)])
    assert np.array_equal(out[3], x[first + (lane ^ 1)])
    low = lane < 8
    assert np.array_equal(out[4][low], x[(first + 7)[low]])
    # those that would read from a lane outside of the mask get nothing that is defined
    known = ~low & ((lane ^ 16) >= 8)
    assert np.array_equal(out[4][known], x[(first + (lane ^ 16))[known]])


def test_sums_by_warps() -> None:
    x = RNG.random(100_000)
    out = np.zeros(1)
    launch(kernels.warp_sums, 391, 256, (x, out))
    assert math.isclose(out[0], x.sum(), rel_tol=1e-12)


def test_votes() -> None:
    x = np.array([2, 2, 1, 3] * 16, np.int32)
    x[32:] = 2
    out = np.zeros((12, 64), np.int64)
    launch(kernels.votes, 1, 64, (x, out))
    bits = 1 << np.arange(32)
    ballot = int(bits[x[:32] == 2].sum())
    assert out[0].tolist() == [1] * 64
    assert out[1].tolist() == [0] * 64
    assert out[2].tolist() == [ballot] * 32 + [-1] * 32
    assert out[3, :4].tolist() == [ballot, ballot, bits[2::4].sum(), bits[3::4].sum() - 2**32]
    assert (out[4, 0], out[4, 40], out[5, 0], out[5, 40]) == (0, -1, 0, 1)
    assert out[6].tolist() == [48] * 64
    assert (out[7] == 1).all() and (out[8] == 0).all()
    assert (out[9, 0], out[9, 40]) == (0, 1)
    assert out[10, 0] & 0xFFFFFFFF == ballot
    assert out[11, :4].tolist() == [1 + 30 + 2, 1 + 30 + 2, 1 + 31 + 1, 2 + 30 + 1]


def test_all_blocks_wait_at_the_grids_barrier() -> None:
    a = RNG.random(1000)
    expected = a.copy()
    for _ in range(20):
        expected[1:-1] = (expected[:-2] + expected[2:]) / 2
    launch(kernels.smooth, 8, 128, (a, a.copy(), 20))
    assert np.array_equal(a, expected)


def test_local_arrays_views_and_control_flow() -> None:
    x = RNG.random((50, 8)).astype(np.float32) * 100 - 10
    out = np.zeros((50, 4), np.float32)
    launch(kernels.running, 2, 32, (x, out))
    for row, got in zip(x, out, strict=True):
        stop = next((k for k in range(8) if row[k] > 90), 8)
        kept = [k for k in range(stop) if row[k] >= 0]
        assert got[0] == pytest.approx(sum(row[k] for k in kept), rel=1e-6)
        assert got[3] == max([row[0], *(row[k % 4] for k in kept)])
        assert got[1] == got[2] == np.float32(np.float64(row[2]) * 10 + 2)


def test_shared_memory_of_a_size_that_the_launch_gives() -> None:
    x = RNG.random(48).astype(np.float32)
    out = np.zeros_like(x)
    launch(kernels.dynamic, 1, 48, (x, out), dynamic=48 * 4)
    assert np.array_equal(out, x[::-1])
    with pytest.raises(OutOfBounds, match=r"axis 0 of `held`, which has size 47"):
        launch(kernels.dynamic, 1, 48, (x, out), dynamic=47 * 4)


def test_random_numbers_come_from_numbas_own_generator() -> None:
    from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype

    states, out = np.zeros(256, xoroshiro128p_dtype), np.zeros(256)
    init_xoroshiro128p_states_cpu(states, 1, 0)
    launch(kernels.share_of_circle, 4, 64, (states, 1000, out))
    assert abs(out.mean() - math.pi) < 0.02 and out.std() > 0.01


def test_types_are_the_compilers() -> None:
    out = np.zeros(7)
    launch(kernels.types, 1, 1, (np.ones(1, np.float32), np.int32(2**31 - 1), out))
    # float32 * float64, int32 + int32, float32, integers by zero, one rounding
    assert out.tolist() == [
        2.0 + 1e-9,
        2**32 - 2,
        np.sqrt(np.float32(2)),
        math.inf,
        2**-54,
        -1.5,
        3.5,
    ]


def test_a_complex_division_by_zero_ends_a_thread() -> None:
    x = np.ones(4, np.complex128)
    out = np.zeros_like(x)
    launch(kernels.quotients, 1, 4, (x, 2 * x, out))
    assert (out == 0.5).all()
    with pytest.raises(ZeroDivisionError, match="in `quotients`: on a GPU the thread ends"):
        launch(kernels.quotients, 1, 4, (x, 0 * x, out))


def test_memory_starts_poisoned() -> None:
    out = np.zeros(2)
    launch(kernels.unwritten, 1, 1, (out,))
    assert math.isnan(out[0]) and out[1] > 1e6


def test_an_index_out_of_bounds_is_named() -> None:
    line = line_of("x[i + 1]", "beyond")
    place = rf"at line {line} of `beyond` \(thread \(7, 0, 0\) of block \(3, 0, 0\)\)"
    text = rf"index 32 is out of bounds for axis 0 of `x`, which has size 32, {place}"
    with pytest.raises(OutOfBounds, match=text):
        launch(kernels.beyond, 4, 8, (np.zeros(32),))


BROKEN = [
    ("divergent", ["7 threads", "57 at", "if i < 7|1", "else:|2"]),
    ("early", ["56 of 64 threads of a block end before the barrier", "cuda.syncthreads|0"]),
    ("half_warp", ["shfl_sync", "cuda.shfl_sync|0", "cuda.syncthreads|0"]),
    ("uneven", ["32 of 64 threads", "cuda.syncthreads|0"]),
    ("parted", ["1 of 2 blocks end before", "this_grid|0"]),
]


@pytest.mark.parametrize(("name", "said"), BROKEN)
def test_threads_that_wait_for_ever_are_named(name: str, said: list[str]) -> None:
    with pytest.raises(BarrierError) as caught:
        launch(getattr(kernels, name), 2, 64, (np.zeros(128),))
    for text in said:
        place, _, offset = text.partition("|")
        wanted = f"line {line_of(place, name) + int(offset)}" if offset else text
        assert wanted in str(caught.value)


@pytest.mark.parametrize(
    ("name", "reason"), [("unknown", "libdevice"), ("recursive", "calls itself")]
)
def test_what_the_emulator_lacks_is_said(name: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        launch(getattr(kernels, name), 1, 1, (np.ones(1),))


def test_more_shared_memory_than_there_is() -> None:
    with pytest.raises(LaunchError, match="`too_much` needs 400000 bytes"):
        launch(kernels.too_much, 1, 1, (np.ones(1),))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    # test_golden has the others among its cases
    [p if p.stem == "gaussian_cuda" else pytest.param(p, marks=pytest.mark.long) for p in MODULES],
    ids=lambda p: p.stem,
)
def test_every_golden_module_is_verified(path: Path) -> None:
    header = parse(path.read_text())
    assert header is not None
    for found in verify_module(path, on=("emulator",), cases=4, seconds=2.0):
        record = header.function(found.name)
        # each thread that draws has a state, and those are few
        least = 1_000 if record and record.draws else 10_000
        (evidence,) = found.evidence
        assert (evidence.on, evidence.status) == ("emulator", "passed"), found.to_json()
        assert evidence.cases >= 4 + 4
        assert evidence.detail["largest"] > least


@pytest.mark.slow
def test_a_module_for_numba_cuda_mlir_is_verified(tmp_path: Path) -> None:
    """Its package, which has no simulator, need not be installed."""
    source = EXAMPLES / "softmax.py"
    shutil.copy(source, tmp_path)
    given = ["softmax.py", "--no-verify", "--backend", "numba-cuda-mlir"]
    porter(tmp_path, "convert", *given).check_returncode()
    path = tmp_path / "softmax_cuda.py"
    assert "from numba_cuda_mlir import cuda" in path.read_text()
    (found,) = verify_module(path, on=("emulator",), cases=4)
    assert found.evidence[0].status == "passed", found.to_json()
    assert "numba-cuda-mlir" in found.evidence[0].detail["library"]


@pytest.mark.long
def test_whole_numbers_over_complex_ones(tmp_path: Path) -> None:
    """To Numba the imaginary part of the constant 1 is 1; the simulator knows better."""
    (tmp_path / "over.py").write_text(
        "def over(x):\n    return 1 / x, True / x, -2 / x, x.reshape(-1, 1).shape[1] / x\n"
    )
    for dtype in ("complex64", "complex128"):
        given = ["--no-verify", "--signature", f"{dtype}[:]", "--force"]
        porter(tmp_path, "convert", "over.py", *given).check_returncode()
        (found,) = verify_module(tmp_path / "over_cuda.py", on=("emulator",), cases=6)
        assert found.evidence[0].status == "passed", found.to_json()


def test_what_it_lacks_runs_on_the_simulator_and_is_said(tmp_path: Path) -> None:
    folder = VERIFY_MODULES
    shutil.copy(folder / "maps.py", tmp_path)
    text = (folder / "maps_cuda.py").read_text()
    path = tmp_path / "maps_cuda.py"
    path.write_text(text.replace("T(-0.5) * z", "T(-0.5) * T(math.cbrt(1.0)) * z"))
    (found,) = verify_module(path, on=("emulator",), cases=4, functions=("density",))
    (evidence,) = found.evidence
    assert evidence.status == "skipped" and found.mismatch is None
    assert "runs on the simulator instead" in evidence.detail["reason"]
    assert "cbrt" in evidence.detail["reason"]


MUTANTS = [
    ("maps", "difference", "if i < out.shape[0]:", "if i <= out.shape[0]:"),
    ("rows", "softmax", "    cuda.syncthreads()\n    width = THREADS", "    width = THREADS"),
    ("rows", "product", "    for tile", "    if i >= a.shape[0]: return\n    for tile"),
]


@pytest.mark.parametrize(("stem", "name", "old", "new"), MUTANTS)
def test_broken_kernels_are_found(tmp_path: Path, stem: str, name: str, old: str, new: str) -> None:
    folder = VERIFY_MODULES
    shutil.copy(folder / f"{stem}.py", tmp_path)
    text = (folder / f"{stem}_cuda.py").read_text()
    assert old in text
    path = tmp_path / f"{stem}_cuda.py"
    path.write_text(text.replace(old, new))
    (found,) = verify_module(path, on=("emulator",), cases=6, functions=(name,))
    assert found.failed and found.mismatch is not None
    assert "--on emulator" in found.mismatch.command
