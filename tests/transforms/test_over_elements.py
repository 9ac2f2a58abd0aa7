"""Iterations that run loops over one range of elements have a thread for each element."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.schedule.nodes import Launch, items_of
from porter.source.module import SourceModule
from tests.support.shell import Shell

SOURCE = """
import numpy as np


def syrk(alpha: float, beta: float, C: "float64[:, :]", A: "float64[:, :]"):
    for i in range(A.shape[0]):
        C[i, :i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, :i + 1] += alpha * A[i, k] * A[:i + 1, k]


def neighbours(C: "float64[:, :]", A: "float64[:, :]"):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            C[i, 1:] += A[i, k] * C[i, :-1]


def diagonal_too(C: "float64[:, :]", A: "float64[:, :]"):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            C[i, :i] += A[i, k] * A[:i, k]
            C[i, i] += 1.0


def one_total(C: "float64[:, :]", A: "float64[:, :]"):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            C[i, :] += (A[i] * A[k]).sum()
"""


def launches(name: str) -> tuple[list[Launch], str]:
    """The launches of a function, and its kernels."""
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == name)
    made = convert_function(function)
    *kernels, _ = made.text.parts
    return [i for i in items_of(made.plan.items) if isinstance(i, Launch)], "".join(kernels)


def test_a_thread_has_an_element_in_a_register() -> None:
    (launch,), text = launches("syrk")
    assert len(launch.kernel.axes) == 2
    # half of the threads are below the diagonal, and store once
    assert "C_here += alpha * A[i, k] * A[j, k]" in text and text.count("C[i, j] = C_here") == 1


@pytest.mark.parametrize("name", ["diagonal_too", "one_total"])
def test_other_iterations_are_a_thread_each(name: str) -> None:
    """One statement is for another element, or all would find the same sum."""
    found, _ = launches(name)
    assert all(len(launch.kernel.axes) == 1 for launch in found)


def test_elements_that_need_each_other_have_no_thread_of_their_own() -> None:
    function = next(f for f in SourceModule(SOURCE, "f.py").functions if f.name == "neighbours")
    *kernels, _ = convert_function(function).text.parts
    assert "C_here" not in "".join(kernels)


@pytest.mark.long
def test_results_are_those_of_numpy(shell: Shell) -> None:
    shell.write("f.py", SOURCE)
    assert shell.convert("f.py", verify=True) == 0, shell.err
