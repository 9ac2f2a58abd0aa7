"""Systems of equations that a module's own kernels solve."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from porter.verify.run import verify_module
from tests.schedule.children import assert_none_wrong
from tests.support.machine import compiler, module
from tests.support.shell import Shell, porter

HEAD = "import numpy as np\n\n\n"
SOLVE = f"{HEAD}def f(a, b):\n    return np.linalg.solve(a, b)\n"
BOTH = f"""{HEAD}def f(a, b):
    low = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.linalg.solve(low, b)
"""
MATRICES = "float64[:, :], float64[:, :]"
CHOLESKY = ("factor_columns", "subtract_square")


@pytest.mark.parametrize(
    ("value", "signature", "helper"),
    [
        ("np.linalg.solve(a, b)", "float64[:, :], float64[:]", "_solve"),
        ("np.linalg.solve(a, b)", "complex64[:, :, :], complex64[:, :]", "_solve"),
        ("np.linalg.inv(a + b)", "float32[:, :], float32[:, :]", "_solve"),
        ("np.linalg.det(a) * b", "float64[:, :, :], float64[:]", "_determinant"),
        ("np.linalg.cholesky(a @ b)", "float32[:, :], float32[:, :]", "_cholesky"),
    ],
)
def test_nothing_leaves_the_device(shell: Shell, value: str, signature: str, helper: str) -> None:
    shell.write("f.py", f"{HEAD}def f(a, b):\n    return {value}\n")
    command = ("f.py", "--signature", signature, "--refuse-host", "-o", "-")
    assert shell.convert(*command) == 0
    host = shell.out.partition("def f(")[2].partition("\ndef ")[0]
    assert f" = {helper}(operands, stream)" in host and "_to_host" not in host
    shown = porter(shell, "analyze", "f.py", "--output-format", "json").stdout
    assert json.loads(shown)["functions"][0]["verdict"] == "convertible"


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (("--library", "cupy"), "cp.linalg.solve(cp.asarray(d_a), cp.asarray(d_b))"),
        (("--target", "loops"), "np.linalg.solve(a, b)"),
    ],
)
def test_who_else_solves(shell: Shell, options: tuple[str, ...], call: str) -> None:
    shell.write("f.py", f"{SOLVE.rstrip()} * 2\n")
    assert shell.convert("f.py", "--signature", MATRICES, *options, "-o", "-") == 0
    assert call in shell.out and "factor_panel" not in shell.out


def test_a_solver_is_timed(shell: Shell) -> None:
    shell.write("f.py", SOLVE)
    assert shell.convert("f.py", "--signature", MATRICES, "--timing", "-o", "-") == 0
    timed = "with _timed(times, _solve, stream):\n        solution = _solve(operands, stream)\n"
    assert timed in shell.out


def test_what_is_solved_is_no_copy_that_others_read(shell: Shell) -> None:
    """The solver works in place: each call has operands of its own, also inside of a loop."""
    loop = "    for _ in range(3):\n        x = x + np.linalg.solve(a, b)\n"
    body = f"    x = np.linalg.solve(a, b)\n{loop}    return x, np.linalg.det(a)\n"
    shell.write("f.py", f"{HEAD}def f(a, b):\n{body}")
    assert shell.convert("f.py", "--signature", MATRICES, "-o", "-") == 0
    host = shell.out.partition("def f(")[2].partition("\ndef ")[0]
    before, _, loop = host.partition("for _ in range(3):")
    assert before.count("_solve(operands") == loop.count("_solve(operands") == 1
    assert loop.index("f_kernel") < loop.index("_solve(")
    assert verify_module(shell.write("f_cuda.py", shell.out), on=("simulator",), cases=3)[
        0
    ].verified


@pytest.mark.long
def test_a_stack_is_verified(shell: Shell) -> None:
    """Among the cases are NaN, infinity, integers and matrices that are nearly singular."""
    shell.write("f.py", f"{SOLVE.rstrip()} * 2\n")
    matrices = "float64[:, :, :], float64[:, :, :]"
    assert shell.convert("f.py", "--signature", matrices, verify=True) == 0
    assert "verified on the simulator: 24 cases passed" in shell.out


@pytest.mark.parametrize(
    ("dtype", "ndim", "right", "count"),
    [
        ("float64", 2, 2, 1),
        *(
            pytest.param(*case, 11, marks=pytest.mark.long)
            for case in (
                ("float64", 2, 2),
                ("float32", 3, 3),
                ("complex128", 2, 1),
                ("complex64", 3, 2),
            )
        ),
    ],
)
def test_sizes_at_the_borders(dtype: str, ndim: int, right: int, count: int) -> None:
    assert_none_wrong("solvers_child", dtype, str(ndim), str(right), str(count), "1")


@pytest.mark.parametrize(
    ("kernel", "right", "wrong"),
    [
        pytest.param("factor_panel", "p = places[0]", "p = s", marks=pytest.mark.long),
        # a thread that ends may leave the others at a barrier until the time is over
        pytest.param(
            "factor_panel", "moves and p >= stop", "moves and p > stop", marks=pytest.mark.long
        ),
        ("factor_panel", "range(s + 1, stop - c)", "range(s + 2, stop - c)"),
        pytest.param(
            "solve_lower", "inside and p >= last", "inside and p > last", marks=pytest.mark.long
        ),
        pytest.param(
            *("subtract_product", "i + t < lu.shape[1] and j", "i + t <= lu.shape[1] and j"),
            marks=pytest.mark.long,
        ),
        ("factor_columns", "if x <= y else", "if x < y else"),
        pytest.param("subtract_square", "Idx.y > cuda", "Idx.y >= cuda", marks=pytest.mark.long),
        ("solve_upper", "last - first - 1, -1, -1", "last - first - 1, 0, -1"),
    ],
)
def test_verification_sees_a_mistake(shell: Shell, kernel: str, right: str, wrong: str) -> None:
    shell.write("f.py", SOLVE if kernel not in CHOLESKY else BOTH)
    assert shell.convert("f.py", "--no-verify", "--signature", MATRICES) == 0
    path = shell.folder / "f_cuda.py"
    before, name, behind = path.read_text().partition(f"def {kernel}(")
    assert right in behind
    path.write_text(before + name + behind.replace(right, wrong, 1))
    (found,) = verify_module(path, on=("simulator",))
    assert found.mismatch is not None


def test_an_edited_solver_that_is_right(shell: Shell) -> None:
    """Edited modules have cases with their own blocks, which take the simulator minutes here."""
    shell.write("f.py", BOTH)
    assert shell.convert("f.py", "--no-verify", "--signature", MATRICES) == 0
    path = shell.folder / "f_cuda.py"
    path.write_text(path.read_text().replace("if x <= y else", "if x < y + 1 else", 1))
    (found,) = verify_module(path, on=("simulator",))
    assert found.verified, found.why


def made(shell: Shell, text: str, signature: str, **sizes: int) -> Any:
    """A module on the PTX machine, with other sizes of its constants."""
    shell.write("f.py", f"{HEAD}{text}")
    assert shell.convert("f.py", "--signature", signature, "-o", "-") == 0
    for name, size in sizes.items():
        line = next(x for x in shell.out.split("\n") if x.startswith(f"{name} = "))
        shell.out = shell.out.replace(line, f"{name} = {size}")
    return module(shell.write("f_cuda.py", shell.out), "sm_90")


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("panel", [2048, 64])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_compiled_kernels(shell: Shell, dtype: str, panel: int) -> None:
    """With few elements in shared memory most panels have no column there."""
    text = "def f(a, b):\n    return np.linalg.solve(a, b)\n"
    found = made(shell, text, f"{dtype}[:, :, :], {dtype}[:, :, :]", PANEL=panel)
    rng = np.random.default_rng(1)
    for n, m in ((3, 1), (33, 5), (70, 9)):
        a, b = (rng.normal(size=(2, n, k)).astype(dtype) for k in (n, m))
        if dtype == "complex128":
            a, b = a + 1j * rng.permutation(a), b * (1 + 2j)
        expected = np.linalg.solve(a, b)
        np.testing.assert_allclose(found.f(a, b), expected, rtol=1e-9, atol=1e-9)
    assert (found.factor_panel.launches, found.factor_tall_panel.launches) == (
        (6, 0) if panel == 2048 else (5, 1)
    )


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
def test_what_has_no_solution(shell: Shell) -> None:
    text = "def f(a, b):\n    return np.linalg.solve(a, b), np.linalg.det(a)\n"
    found = made(shell, text, MATRICES)
    b = np.ones((2, 1))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        found.f(np.ones((2, 2)), b)
    with pytest.raises(ValueError, match="square"):
        found.f(np.ones((2, 3)), b)
    # NaN becomes a pivot: no number is found where NumPy has none
    solution, determinant = found.f(np.array([[np.nan, 0.0], [0.0, 1.0]]), b)
    assert np.isnan(solution).all() and np.isnan(determinant)


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_compiled_cholesky(shell: Shell, dtype: str) -> None:
    """Only the lower triangle is read; a matrix that is not definite is refused."""
    found = made(shell, "def f(a):\n    return np.linalg.cholesky(a)\n", f"{dtype}[:, :, :]")
    rng = np.random.default_rng(3)
    for n in (1, 32, 33, 70):
        a = rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if dtype[0] == "c" else 0)
        a = (a @ np.swapaxes(a, 1, 2).conj() + n * np.eye(n)).astype(dtype)
        expected = np.linalg.cholesky(a)
        a[:, 0, 1:] = np.nan
        found_factor = found.f(a)
        assert found_factor.dtype == dtype
        scale = 64 * np.finfo(dtype).eps * np.abs(expected).max()
        np.testing.assert_allclose(found_factor, expected, rtol=0, atol=scale)
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        found.f(np.diag([1, -1, 1]).astype(dtype)[None])


@pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")
def test_determinants(shell: Shell) -> None:
    """Signs of swapped rows; 0 of a singular matrix; no overflow in between, as in NumPy."""
    found = made(shell, "def f(a):\n    return np.linalg.det(a)\n", "float64[:, :, :]")
    rng = np.random.default_rng(2)
    a = np.stack(
        [np.eye(40)[rng.permutation(40)] * s for s in (1e20, 1e-9, -1.0)] + [np.ones((40, 40))]
    )
    a[0, :, :20] *= 1e-39
    expected = np.linalg.det(a)
    assert np.isfinite(expected).all() and expected[3] == 0
    np.testing.assert_allclose(found.f(a), expected, rtol=1e-12)
