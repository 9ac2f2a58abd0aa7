"""Factorisations are loops over the terms of sums, where that is right."""

from __future__ import annotations

import pytest

from porter import ir
from porter.convert.passes import steps
from porter.inference.signature import candidates
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.source.module import SourceModule
from porter.target.base import Target
from porter.target.registry import TARGETS
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

#: programs of the corpus, with the stages of a step
STEPS = {
    "loops_linear:cholesky_rows": 3, "loops_linear:cholesky_loops": 3,
    "triangular:lu_in_place": 2, "factorisations:lu_three_loops": 2,
    "factorisations:doolittle": 3, "factorisations:banachiewicz": 3,
    "factorisations:right_sides": 2,
}  # fmt: skip
OTHERS = ("stored_again", "with_itself", "another_matrix")
WORDS = "each step finishes the elements with complete sums"


def placed(program: ir.Program, target: Target | None = None) -> list[ir.For]:
    """The loops over the terms of sums, after the pass that makes them."""
    schedules = target.schedules if target else ()
    body = next(b for name, b, _ in steps(program, schedules) if name == "place loops")
    loops = (s for s in statements(body) if isinstance(s, ir.For))
    return [s for s in loops if s.origin.text.startswith(WORDS)]


def program_of(key: str) -> ir.Program:
    """A corpus program as an array program."""
    file, name = key.split(":")
    module = SourceModule((CORPUS / f"{file}.py").read_text(), f"{file}.py")
    (function,) = (f for f in module.functions if f.name == name)
    types = next(candidates(function, CASES[key].signature))
    return build(function, types, Globals(module))


@pytest.mark.parametrize("key", STEPS)
def test_stages_of_a_step(key: str) -> None:
    (loop,) = placed(program_of(key))
    assert len(loop.body) == STEPS[key] and all(isinstance(s, ir.Stage) for s in loop.body)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_read_before_it_is_final_keeps_its_order(name: str) -> None:
    assert placed(program_of(f"factorisations:{name}")) == []


def test_both_triangles_are_one_stage() -> None:
    """What is subtracted is the same in both, and no thread asks which one it is in."""
    (loop,) = placed(program_of("triangular:lu_in_place"))
    assert not any(isinstance(s, ir.If) for s in statements(loop.body))


def test_a_triangle_alone_is_a_test_in_each_thread() -> None:
    (loop,) = placed(program_of("factorisations:banachiewicz"))
    (test,) = (s for s in statements(loop.body[-1].body) if isinstance(s, ir.If))
    assert str(test.cond) == "(i4 >= j3)"


def test_loops_for_the_cpu_keep_their_order() -> None:
    """A core is fast where it reads a row after the other."""
    assert placed(program_of("triangular:lu_in_place"), TARGETS["loops"]) == []


@pytest.mark.parametrize(
    ("start", "found"),
    [("u[j, i]", True), ("u[i, j]", False), ("v[j, i]", False)],
)
def test_a_sum_begins_with_what_no_iteration_stores(start: str, found: bool) -> None:
    """Below the diagonal of u nothing is stored; u and v may be one array."""
    source = (
        "import numpy as np\n\n\ndef f(u, v):\n    n = u.shape[0]\n    L = np.zeros_like(u)\n"
        "    for i in range(n):\n        for j in range(i, n):\n"
        "            u[i, j] -= L[i, :i] @ u[:i, j]\n        for j in range(i + 1, n):\n"
        f"            L[j, i] = ({start} - L[j, :i] @ u[:i, i]) / u[i, i]\n    return L\n"
    )
    (function,) = SourceModule(source, "f.py").functions
    types = next(candidates(function, "float64[:, :], float64[:, :]"))
    assert bool(placed(build(function, types, Globals(SourceModule(source, "f.py"))))) == found
