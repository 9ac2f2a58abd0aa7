"""Factorisations are loops over the terms of sums, where that is right."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.inference.signature import candidates
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import HostLoop, Launch, Plan, items_of
from porter.schedule.printer import plan_text
from porter.source.module import SourceModule
from porter.target.registry import TARGETS
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

#: programs of the corpus, with the launches of a step; the last one counts the steps
STEPS = {
    "loops_linear:cholesky_rows": 4, "loops_linear:cholesky_loops": 4,
    "triangular:lu_in_place": 3, "factorisations:lu_three_loops": 3,
    "factorisations:doolittle": 4, "factorisations:banachiewicz": 4,
    "factorisations:right_sides": 3,
}  # fmt: skip
OTHERS = ("stored_again", "with_itself", "another_matrix")
WORDS = "each step finishes the elements with complete sums"


def plan_of(key: str) -> Plan:
    """The plan of a corpus program."""
    file, name = key.split(":")
    module = SourceModule((CORPUS / f"{file}.py").read_text(), f"{file}.py")
    (function,) = (f for f in module.functions if f.name == name)
    types = next(candidates(function, CASES[key].signature))
    return plan(build(function, types, Globals(module)))


def loops_over_terms(key: str) -> list[HostLoop]:
    """The loops of the host function that are over the terms of sums."""
    items = items_of(plan_of(key).items)
    return [i for i in items if isinstance(i, HostLoop) and i.origin.text.startswith(WORDS)]


@pytest.mark.parametrize("key", STEPS)
def test_launches_of_a_step(key: str) -> None:
    (loop,) = loops_over_terms(key)
    assert len(loop.body) == STEPS[key] and all(isinstance(s, Launch) for s in loop.body)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_read_before_it_is_final_keeps_its_order(name: str) -> None:
    assert loops_over_terms(f"factorisations:{name}") == []


def test_both_triangles_are_one_launch() -> None:
    """What is subtracted is the same in both, and no thread asks which one it is in."""
    loop = plan_text(plan_of("triangular:lu_in_place")).split("host for ")[1]
    assert "if ((i3 >= k + 1) and (j3 >= k + 1)):" in loop and loop.count("if ") == 2


def test_a_triangle_alone_is_a_test_in_each_thread() -> None:
    text = plan_text(plan_of("factorisations:banachiewicz")).split("host for ")[1]
    assert "if (i4 >= j3):" in text


def test_loops_for_the_cpu_keep_their_order() -> None:
    """A core is fast where it reads a row after the other."""
    source = (CORPUS / "triangular.py").read_text()
    function = next(f for f in SourceModule(source, "f.py").functions if f.name == "lu_in_place")
    loops = TARGETS["loops"]
    items = items_of(convert_function(function, "float64[:, :]", target=loops).plan.items)
    assert not any(isinstance(i, HostLoop) and i.origin.text.startswith(WORDS) for i in items)


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
    items = items_of(convert_function(function, "float64[:, :], float64[:, :]").plan.items)
    steps = [i for i in items if isinstance(i, HostLoop) and i.origin.text.startswith(WORDS)]
    assert bool(steps) == found
