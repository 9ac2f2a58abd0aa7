"""Systems of equations: how far rounding moves a solution, and what it decides."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from porter.verify.oracle import compare, rounding
from porter.verify.oracle.errors import by_rounding
from porter.verify.run import verify_module
from tests.support.commands import porter

SOURCE = """
def solved(a, b):
    return np.linalg.solve(a, b)


def plain(a, b):
    return a - b
"""


def rough(name: str, source: str = SOURCE) -> Callable[..., Any]:
    """A function with random roundings."""
    scope: dict[str, Any] = {"np": np, **rounding.NAMES}
    exec(compile(rounding.roughened(ast.parse(source)), "f.py", "exec"), scope)
    found: Callable[..., Any] = scope[name]
    return found


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64"])
def test_a_solution_moves_as_far_as_its_condition_says(dtype: str) -> None:
    """A result that is moved by its last place does not show the condition of the matrix."""
    b = np.array([1, 3]).astype(dtype)
    moved = []
    for last in (7, 1_000_002):  # conditions of about 3 and 4e12
        a = np.array([[1_000_000, 1_000_001], [1_000_001, last]])
        exact = np.linalg.solve(a.astype(dtype), b)
        rounding.reset(0)
        runs = [np.abs(rough("solved")(a.astype(dtype), b) - exact).max() for _ in range(8)]
        moved.append(max(runs) / np.abs(exact).max() / np.finfo(float).eps)
    assert moved[0] < 100 and moved[1] > 1e9
    with rounding.exactly():
        assert (rough("solved")(a.astype(dtype), b) == exact).all()


def test_functions_that_solve_are_known() -> None:
    assert rounding.solves(rough("solved"))
    assert not rounding.solves(rough("plain", "def plain(a, b):\n    return a - b\n"))


def test_a_function_of_the_user_with_such_a_name_is_called_as_it_is() -> None:
    """Its arguments stay what they are, those by name too."""
    source = (
        "def solve(n, step=1):\n    return n, step\n\n\ndef f(n):\n    return solve(n, step=n)\n"
    )
    called = rough("f", source)
    assert called(3) == (3, 3) and type(called(3)[0]) is int
    assert not rounding.solves(called)


def test_arguments_by_name_are_moved() -> None:
    called = rough("f", "def f(a, b):\n    return np.linalg.solve(a=a, b=b)\n")
    a, b = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]]), np.array([1.0, 3.0])
    rounding.reset(0)
    moved = [abs(called(a, b)[0] / np.linalg.solve(a, b)[0] - 1) for _ in range(8)]
    assert max(moved) > 1e-9


def test_rounding_decides_about_singular_matrices() -> None:
    with pytest.raises(np.linalg.LinAlgError) as found:
        np.linalg.inv(np.zeros((2, 2)))
    assert by_rounding(found.value)
    assert not by_rounding(ValueError("Singular matrix")) and not by_rounding(None)
    with pytest.raises(np.linalg.LinAlgError) as other:
        np.linalg.inv(np.zeros((2, 3)))
    assert not by_rounding(other.value)


def test_results_without_a_digit_that_is_sure() -> None:
    def outcome(*values: float) -> compare.Outcome:
        return compare.Outcome(result=np.array(values))

    assert not compare.is_lost(outcome(1.0, 2.0), outcome(1.0, 2.0), [])
    assert not compare.is_lost(outcome(1.0, 2.0), outcome(1.01, 2.0), [])
    assert compare.is_lost(outcome(1.0, 2.0), outcome(1.0, 3.0), [])
    assert compare.is_lost(outcome(1.0, 2.0), outcome(1.0, np.nan), [])
    assert not compare.is_lost(outcome(0.0), outcome(0.0), [])
    pair = [compare.Outcome(result=(np.zeros(2), np.array([x]))) for x in (1.0, 2.0)]
    assert compare.is_lost(*pair, [])


def test_a_kernel_that_refuses_what_has_a_solution_is_wrong(tmp_path: Path) -> None:
    """Its error is excused only where rounding decides."""
    source = "import numpy as np\n\n\ndef f(a, b):\n    return np.linalg.solve(a, b) * 2\n"
    (tmp_path / "f.py").write_text(source)
    types = "float64[:, :], float64[:, :]"
    made = porter(tmp_path, "convert", "f.py", "--signature", types, "--no-verify")
    assert made.returncode == 0, made.stderr
    path = tmp_path / "f_cuda.py"
    path.write_text(path.read_text().replace("if pivot == 0:", "if pivot <= 0:", 1))
    (found,) = verify_module(path, on=("simulator",))
    assert found.mismatch is not None and "LinAlgError" in found.mismatch.message
