"""Systems of equations: how far rounding moves a solution, and what it decides."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from porter.verify.oracle import rounding
from porter.verify.oracle.errors import by_rounding

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


def test_rounding_decides_about_singular_matrices() -> None:
    with pytest.raises(np.linalg.LinAlgError) as found:
        np.linalg.inv(np.zeros((2, 2)))
    assert by_rounding(found.value)
    assert not by_rounding(ValueError("Singular matrix")) and not by_rounding(None)
    with pytest.raises(np.linalg.LinAlgError) as other:
        np.linalg.inv(np.zeros((2, 3)))
    assert not by_rounding(other.value)
