"""Loops of the host go into the threads where each thread stays on its own part of the arrays."""

from __future__ import annotations

import pytest

from porter.convert.passes import plan
from porter.inference.signature import candidates
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import HostLoop, HostWhile, Launch, items_of
from porter.source.module import SourceModule
from tests.corpus.inputs import CASES
from tests.support.paths import CORPUS

#: programs of the corpus, with the launches and the loops of their host functions
PROGRAMS = {"adi_step": (3, 0), "implicit_columns": (2, 0), "escape_counts": (1, 0),
            "shifted_sweep": (2, 0), "crossing_sweep": (4, 1)}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_do_not_depend_on_the_length_of_lines(name: str) -> None:
    module = SourceModule((CORPUS / "loops_sweeps.py").read_text(), "loops_sweeps.py")
    (function,) = (f for f in module.functions if f.name == name)
    types = next(candidates(function, CASES[f"loops_sweeps:{name}"].signature))
    items = list(items_of(plan(build(function, types, Globals(module))).items))
    launches = [i for i in items if isinstance(i, Launch)]
    loops = [i for i in items if isinstance(i, (HostLoop, HostWhile))]
    assert (len(launches), len(loops)) == PROGRAMS[name]
