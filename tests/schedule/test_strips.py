"""Strips of rows of a product: which products have them, and for which shapes they run."""

from __future__ import annotations

import numpy as np
import pytest

from porter.ptx.machine.counts import Counts
from porter.verify.run import verify_module
from tests.schedule.children import assert_none_wrong
from tests.schedule.helpers import helper
from tests.support.machine import compiler, module
from tests.support.shell import Shell

HEAD = "import numpy as np\n\n\n"


@pytest.mark.parametrize(
    ("product", "strips"),
    [
        ("x @ y", True),
        ("x.T @ y", True),
        ("np.einsum('ki,kj->ij', x, y) * 2", True),
        ("x @ y.T", False),
        ("((x[:, None] - y[None]) ** 2).sum(axis=2)", False),
    ],
)
def test_the_right_operand_is_read_along_rows(shell: Shell, product: str, strips: bool) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return {product}\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    assert ("def f_strips(" in shell.out, "def f_tiled(" in shell.out) == (strips, not strips)


def test_the_left_operand_has_its_rows_or_its_terms_side_by_side(shell: Shell) -> None:
    """Neighbouring threads load neighbours of either, and store them into different banks."""
    for product, shape, cell in (
        ("x @ y", "STRIP, DEPTH", "x_strip[ty, t] = x[np.uint64(i), np.uint64(k)]"),
        ("x.T @ y", "DEPTH, STRIP", "x_strip[t, tx % STRIP] = x[np.uint64(k), np.uint64(i)]"),
    ):
        shell.write("f.py", f"{HEAD}def f(x, y):\n    return {product}\n")
        assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
        kernel = shell.out.partition("def f_strips(")[2].partition("@cuda.jit")[0]
        assert f"cuda.shared.array(({shape}), x.dtype)" in kernel
        assert cell in kernel


def test_operands_that_have_no_room_are_tiled(shell: Shell) -> None:
    """Two strips of complex128 beside the shares would be 64 KiB."""
    term = "x[:, :, None] * y[None] + z[:, :, None] * w[None]"
    shell.write("f.py", f"{HEAD}def f(x, y, z, w):\n    return ({term}).sum(axis=1)\n")
    for dtype, strips in (("complex64", True), ("complex128", False)):
        signature = ", ".join([f"{dtype}[:, :]"] * 4)
        assert shell.convert("f.py", "--signature", signature, "-o", "-") == 0
        assert ("def f_strips(" in shell.out) == strips


def test_few_rows_of_many_columns_stay_strips(shell: Shell) -> None:
    """A wide tile has 64 rows: most of its threads would have none."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--signature", "float32[:, :], float32[:, :]", "-o", "-") == 0
    beyond = helper(shell.out, "_is_beyond_strips")
    assert not (beyond(8, 10_000, 30_000) or beyond(16, 5120, 10**6) or beyond(1, 10**6, 511))
    assert beyond(17, 5120, 512) and beyond(16, 5119, 512) and beyond(525, 525, 1)
    assert not (beyond(17, 5120, 511) or beyond(1280, 1280, 10**6))


@pytest.mark.parametrize("engine", ["simulator", pytest.param("emulator", marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [1, pytest.param(9, marks=pytest.mark.long)])
def test_sizes_at_the_borders_of_strips(engine: str, count: int) -> None:
    assert_none_wrong("tiles_child", engine, "strip", str(count), "1")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "first_k + t\n                if k < x.shape[1]:",
            "first_k + t\n                if True:",
        ),
        ("if i < x.shape[0] and", "if i <= x.shape[0] and"),
        ("min(first_row + ty, x.shape[0] - 1)", "first_row + ty"),
        pytest.param("t += STRIP", "t += 1", marks=pytest.mark.long),
        pytest.param(
            "range(STRIP):\n            total",
            "range(STRIP - 1):\n            total",
            marks=pytest.mark.long,
        ),
        pytest.param("DEPTH, x.shape[1] - first_k", "DEPTH, 5", marks=pytest.mark.long),
    ],
)
def test_verification_sees_a_mistake(shell: Shell, right: str, wrong: str) -> None:
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--no-verify", "--signature", "float64[:, :], float64[:, :]") == 0
    path = shell.folder / "f_cuda.py"
    before, name, behind = path.read_text().partition("def f_strips(")
    assert right in behind
    path.write_text(before + name + behind.replace(right, wrong, 1))
    (found,) = verify_module(path, on=("simulator",))
    assert found.mismatch is not None


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize(
    ("dtype", "most"),
    [("float32", 3.8), *(pytest.param(d, m, marks=pytest.mark.long) for d, m in
                         (("float64", 3.8), ("complex128", 12.0), ("int64", 4.5)))],
)  # fmt: skip
def test_the_compiled_strips(shell: Shell, dtype: str, most: float) -> None:
    """It gives what NumPy gives, and takes few instructions for a product and its addition."""
    shell.write("f.py", f"{HEAD}def f(x, y):\n    return x @ y\n")
    assert shell.convert("f.py", "--signature", f"{dtype}[:, :], {dtype}[:, :]", "-o", "-") == 0
    made = module(shell.write("f_cuda.py", shell.out), "sm_90")
    rng = np.random.default_rng(1)
    for n, m, k in ((1, 33, 7), (9, 31, 129), (8, 64, 511), (3, 2, 0)):
        x, y = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((n, k), (k, m)))
        np.testing.assert_array_equal(made.f(x, y), x @ y)
    assert made.f_strips.launches == 4
    x, y = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((8, 2048), (2048, 640)))
    made.f_strips.counts = counts = Counts()
    np.testing.assert_array_equal(made.f(x, y), x @ y)
    assert counts.instructions <= most * 8 * 2048 * 640
