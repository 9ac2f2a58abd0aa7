"""Turns of sweeps in place are one loop of the host over wavefronts, where that is right."""

from __future__ import annotations

import pytest

from porter.convert.function import convert_function
from porter.convert.passes import plan
from porter.inference.signature import candidates
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import HostLoop, items_of
from porter.source.module import SourceModule
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

#: programs of the corpus, with the loops of their host functions
LOOPS = {
    "gauss_seidel": 1, "sor": 1, "nine_points": 1, "backwards": 1, "one_axis_backwards": 1,
    "two_tables": 1, "rows_of_statements": 1, "turns_of_distances": 1,
    # a turn needs the last point of the one before, has rows of its own, or leaves a sum
    "from_the_end": 2, "rows_grow": 2, "with_a_count": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_the_host(name: str) -> None:
    module = SourceModule((CORPUS / "loops_turns.py").read_text(), "loops_turns.py")
    (function,) = (f for f in module.functions if f.name == name)
    types = next(candidates(function, CASES[f"loops_turns:{name}"].signature))
    items = items_of(plan(build(function, types, Globals(module))).items)
    assert sum(isinstance(i, HostLoop) for i in items) == LOOPS[name]


def test_the_first_turn_alone_may_have_to_run_in_order() -> None:
    """It is followed to see what becomes of integers, and says nothing where it has no kernels."""
    source = (
        "def f(u, n, turns):\n"
        "    for t in range(turns - 1):\n"
        "        for i in range(1, n - 1):\n"
        "            u[i, 1:-1] += u[i - 1, :-2] + u[i, 2:] + u[i + 1, 1:-1]\n"
        "            for j in range(1, n - 1):\n"
        "                u[i, j] += u[i, j - 1]\n"
        "                u[i, j] /= 9.0\n"
    )
    function = SourceModule(source, "f.py").functions[0]
    items = items_of(convert_function(function, "float64[:, :], int64, int64").plan.items)
    assert sum(isinstance(i, HostLoop) for i in items) == 1
