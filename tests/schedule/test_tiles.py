"""Contractions: which of them are tiled, and by which tiles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from porter.ptx.machine.counts import Counts
from porter.verify.compile.assembly import link_log
from porter.verify.compile.ptx_report import resources
from porter.verify.run import verify_module
from tests.schedule.children import assert_none_wrong
from tests.schedule.helpers import helper
from tests.support.machine import compiler, module
from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"
DISTANCES = "def f(x, y):\n    return (x[:, None, :] * y[None]).max(axis=2)\n"


@pytest.mark.parametrize("product", ["x @ y.conj().T", "np.einsum('ij,kj->ik', x, y)"])
def test_products_of_complex_numbers_are_tiled(shell: Shell, product: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return {product}\n")
    assert shell.convert("f.py", "--signature", "complex64[:, :], complex64[:, :]", "-o", "-") == 0
    assert "_tile = cuda.shared.array((TILE, PADDED), complex64)" in shell.out


@pytest.mark.long
def test_an_extreme_of_integers_has_no_element_to_start_from_in_a_tile(shell: Shell) -> None:
    """A thread beyond the last row has none; infinity is where floats start."""
    shell.write("f.py", HEAD + DISTANCES)
    for dtype, tiled in (("float32", True), ("int64", False)):
        signature = f"{dtype}[:, :], {dtype}[:, :]"
        assert shell.convert("f.py", "--signature", signature, "--force", verify=True) == 0
        text = (shell.folder / "f_cuda.py").read_text()
        assert ("f_tiled" in text) == tiled


def test_large_results_have_large_tiles(shell: Shell) -> None:
    """The host chooses by the shape: there are three ways, one of them in two launches."""
    shell.write("f.py", f"{HEAD}def f(x, y, b):\n    return np.tanh(x @ y + b)\n")
    signature = "float32[:, :], float32[:, :], float32[:]"
    assert shell.convert("f.py", "--signature", signature, "--emit", "plan") == 0
    assert "or f_tiled_large: large tiles in shared memory, many elements a thread, " in shell.out
    assert "if _is_large(x.shape[0], y.shape[1])" in shell.out
    assert shell.convert("f.py", "--signature", signature, "-o", "-") == 0
    assert shell.out.count("@cuda.jit\ndef f_") == 4
    assert "total = results[r, c]" in shell.out
    large, small = shell.out.index("f_tiled_large["), shell.out.index("f_strips[")
    assert shell.out.index("if _is_large(x.shape[0], y.shape[1]):") < large < small


def test_small_results_of_long_sums_are_split(shell: Shell) -> None:
    """The epilogue is computed once, of all parts; with a batch there are blocks enough."""
    shell.write("f.py", f"{HEAD}def f(x, b):\n    return np.tanh(x.T @ x + b)\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:]", "-o", "-") == 0
    parts, _, last = shell.out.partition("def f_tiled_split_parts(")[2].partition("@cuda.jit")
    assert "range(cuda.blockIdx.z * TILE, x.shape[0], cuda.gridDim.z * TILE)" in parts
    assert "] = results[r, c]" in parts and "math.tanh" not in parts
    assert last.startswith("\ndef f_tiled_split(") and "math.tanh(total + b[" in last
    host = last.partition("\ndef f(x, b")[2]
    assert host.index("_is_large(") < host.index(
        "elif _is_beyond_strips(x.shape[1], x.shape[1], x.shape[0]"
    )
    shell.write("g.py", f"{HEAD}def g(x, y):\n    return x @ y\n")
    assert shell.convert("g.py", "--signature", "float32[:,:,:], float32[:,:,:]", "-o", "-") == 0
    assert "_is_large(" in shell.out and "_is_beyond_strips(" not in shell.out


def test_batches_count_as_results(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--signature", "float32[:,:,:], float32[:,:,:]", "-o", "-") == 0
    assert "if _is_large(x.shape[1], y.shape[2], x.shape[0]):" in shell.out


def test_which_results_are_large(shell: Shell) -> None:
    """200 large tiles or 64 wide ones, of which a narrow result would leave most lanes idle."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y.T\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    large, medium = helper(shell.out, "_is_large"), helper(shell.out, "_is_medium")
    assert large(1280, 1280) and large(25600, 64) and large(10**6, 64) and large(64, 64, 400)
    assert not (large(1279, 1280) or large(10**6, 63) or large(64, 64, 399) or large(0, 10**6))
    assert medium(64, 64, 10**6) and medium(1, 1, 512) and medium(525, 525, 1)
    assert not (medium(64, 64, 511) or medium(10**6, 10, 10**6) or medium(1280, 1280, 10**6))
    assert not medium(10**4, 60, 10**6)


def test_parts_have_some_tiles_and_the_grid_is_full(shell: Shell) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    splits = helper(shell.out, "_splits")
    assert splits(64, 64, 10**6) == (512, (1, 1, 512), (16, 16))
    assert splits(256, 200, 10**5)[:2] == (32, (4, 4, 32))
    assert splits(64, 64, 640)[0] == 40 and splits(0, 64, 0)[0] == 1
    assert splits(1200, 1200, 10**5)[:2] == (1, (19, 19, 1))


def test_tiles_that_have_no_room_stay_small(shell: Shell) -> None:
    """Large tiles of four operands of 16 bytes would be 68 KiB."""
    term = "x[:, None] * y[None] + z[:, None] * w[None]"
    shell.write("f.py", f"{HEAD}def f(x, y, z, w):\n    return ({term}).sum(axis=2)\n")
    for dtype, large in (("complex64", True), ("complex128", False)):
        signature = ", ".join([f"{dtype}[:, :]"] * 4)
        assert shell.convert("f.py", "--signature", signature, "-o", "-") == 0
        assert ("f_tiled_wide" in shell.out) == large
        assert "f_tiled[" in shell.out


@pytest.mark.parametrize(
    ("dtype", "term", "large"),
    [
        ("int64", "np.abs(x[:, None] - y[None])", True),
        ("float32", "np.exp(x[:, None] - y[None])", False),
        ("complex64", "x[:, None] * y[None]", False),
    ],
)
def test_large_tiles_are_for_short_terms_of_real_numbers(
    shell: Shell, dtype: str, term: str, large: bool
) -> None:
    """The text of a term is there for each of 64 elements, and their sums are in registers."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return ({term}).sum(axis=2)\n")
    assert shell.convert("f.py", "--signature", f"{dtype}[:, :], {dtype}[:, :]", "-o", "-") == 0
    assert ("f_tiled_large" in shell.out, "f_tiled_wide" in shell.out) == (large, not large)


def test_only_plain_indices_lose_their_sign(shell: Shell) -> None:
    """A sum of an index with a sign and one without has type float64, and may be negative."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x[::-1] @ y[1:]\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    without = re.findall(r"np\.uint64\(([^)]*)\)", shell.out)
    assert without and all(name.isidentifier() for name in without)
    assert "x[x.shape[0] - i - 1, np.uint64(k)]" in shell.out


def test_loads_of_a_large_tile_that_is_inside_have_no_tests(shell: Shell) -> None:
    """Both kinds of loads are in the loop: the compiler makes two loops of it."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    large, _, others = shell.out.partition("def f_tiled_large(")[2].partition("@cuda.jit")
    assert large.count(" if inside or (") == 2 and "inside" not in others
    first = "first_row + WIDE_LARGE <= x.shape[0] and first_k + TILE <= x.shape[1]"
    assert first in " ".join(large.split())


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["large", pytest.param("split", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [1, pytest.param(9, marks=pytest.mark.long)])
def test_sizes_at_the_borders_of_tiles(engine: str, kind: str, count: int) -> None:
    assert_none_wrong("tiles_child", engine, kind, str(count), "0")


@pytest.mark.parametrize(
    "kernel",
    [
        "f_tiled_large",
        *(pytest.param(n, marks=pytest.mark.long) for n in ("f_tiled", "f_tiled_split_parts")),
    ],
)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param(", x.shape[1], ", ", x.shape[0], ", marks=pytest.mark.long),
        pytest.param(
            "i < x.shape[0] and j < y.shape[1]",
            "i <= x.shape[0] and j < y.shape[1]",
            marks=pytest.mark.long,
        ),
        ("cuda.syncthreads()", "pass"),
    ],
)
def test_verification_sees_a_mistake_in_either_kernel(
    shell: Shell, kernel: str, right: str, wrong: str
) -> None:
    """Every second case takes one of the kernels for large arrays, whatever the sizes are."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:, :], float64[:, :]") == 0
    path = shell.folder / "f_cuda.py"
    before, name, behind = path.read_text().partition(f"def {kernel}(")
    assert right in behind
    path.write_text(before + name + behind.replace(right, wrong, 1))
    (found,) = verify_module(path, on=("emulator",))
    assert found.mismatch is not None


def values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    made = rng.normal(size=shape) * 10
    return (made + 1j * made[::-1] if "complex" in dtype else made).astype(dtype)


#: instructions of all threads for a term of a result of 128 rows and columns
MOST = {"float32": 1.85, "float64": 1.85, "complex64": 9.1, "complex128": 9.1, "int32": 1.85}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("cuda.gridDim.z * TILE", "TILE", marks=pytest.mark.long),
        pytest.param("[cuda.blockIdx.z, ", "[0, ", marks=pytest.mark.long),
        pytest.param("k += cuda.blockDim.y", "k += 1", marks=pytest.mark.long),
        pytest.param("column_sum(total, scratch)", "total", marks=pytest.mark.long),
    ],
)
def test_verification_sees_a_mistake_in_parts(shell: Shell, right: str, wrong: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:, :], float64[:, :]") == 0
    path = shell.folder / "f_cuda.py"
    before, name, behind = path.read_text().partition("def f_tiled_split_parts(")
    assert right in behind, behind
    path.write_text(before + name + behind.replace(right, wrong, 1))
    (found,) = verify_module(path, on=("emulator",))
    assert found.mismatch is not None


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("dtype", ["float32", pytest.param("complex128", marks=pytest.mark.long)])
def test_the_compiled_parts(shell: Shell, dtype: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y.T\n")
    assert shell.convert("f.py", "--signature", f"{dtype}[:, :], {dtype}[:, :]", "-o", "-") == 0
    made = module(shell.write("f_cuda.py", shell.out.replace("LONG = 64", "LONG = 0")), "sm_90")
    rng = np.random.default_rng(1)
    for n, m, k in ((1, 65, 170), (3, 2, 0), (70, 5, 1000)):
        x, y = (values(rng, dtype, (rows, k)) for rows in (n, m))
        np.testing.assert_allclose(made.f(x, y), x @ y.T, rtol=1e-3, atol=1e-2)
    assert made.f_tiled_split_parts.launches == 3 == made.f_tiled_split.launches


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(
    "dtype",
    ["float64", *(pytest.param(d, marks=pytest.mark.long) for d in MOST if d != "float64")],
)
def test_the_compiled_large_tile(shell: Shell, dtype: str) -> None:
    """It gives what NumPy gives at the borders of tiles, in few instructions and in registers."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y.T\n")
    assert shell.convert("f.py", "--signature", f"{dtype}[:, :], {dtype}[:, :]", "-o", "-") == 0
    text = shell.out.replace("LARGE = 1280", "LARGE = 1")
    made = module(shell.write("f_cuda.py", text), "sm_90")
    rng = np.random.default_rng(1)
    for n, m, k in ((1, 65, 17), (63, 64, 1), (67, 1, 40), (5, 70, 0), (128, 128, 128)):
        x, y = (values(rng, dtype, (rows, k)) for rows in (n, m))
        large = made.f_tiled_wide if "complex" in dtype else made.f_tiled_large
        large.counts = counts = Counts()
        found = made.f(x, y)
        assert found.dtype == dtype and found.shape == (n, m)
        close = 1e-2 if dtype in ("float32", "complex64") else 1e-9
        np.testing.assert_allclose(found, x @ y.T, rtol=close / 100, atol=close)
    assert made.f_tiled.launches == 0
    assert counts.instructions <= MOST[dtype] * n * m * k
    (in_memory,) = {c.program.places.local_size for c in large.codes.values()}
    assert in_memory == 0


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("term", ["x @ y", "x @ y.T"])
def test_two_blocks_of_large_tiles_fit_a_multiprocessor(shell: Shell, term: str) -> None:
    """One of them computes while the other one loads."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return np.tanh({term} + 1)\n")
    assert shell.convert("f.py", "--signature", "float64[:, :], float64[:, :]", "-o", "-") == 0
    made = module(shell.write("f_cuda.py", shell.out.replace("LARGE = 1280", "LARGE = 1")), "sm_90")
    compiled, texts = made.f_tiled_large.ptx, []
    made.f_tiled_large.ptx = lambda types: texts.append(compiled(types)) or texts[0]
    x = np.ones((2, 2))
    np.testing.assert_allclose(made.f(x, x), np.tanh(x @ x + 1))
    used = resources(link_log(texts[0], "sm_90"))
    assert 0 < used["registers"] <= 128 and used["spill_bytes"] == 0
