"""Stages over parts of a domain join the stage over the whole, where no element crosses threads."""

from __future__ import annotations

import numpy as np
import pytest

from porter.convert.passes import lower, plan, steps
from porter.inference.signature import candidates
from porter.ir import Alloc, Program, Stage, Write
from porter.ir.interp import run
from porter.ir.walk import statements
from porter.lowering.program import build
from porter.resolve.globals import Globals
from porter.schedule.nodes import items_of
from porter.source.module import SourceModule
from tests.support.paths import CORPUS

SOURCE = CORPUS / "parts.py"
MODULE = SourceModule(SOURCE.read_text(), "parts.py")
FUNCTIONS = {f.name: f for f in MODULE.functions}
#: each with its signature and the stages that are left
JOINED = {
    "interior_added": ("float64[:]", 1),
    "from_both_sides": ("float64[:]", 1),
    "slopes_2d": ("float64[:, :]", 1),
    "part_then_whole": ("float64[:], float64[:]", 1),
    "shifted_by": ("float64[:], int64", 1),
    "placed": ("float64[:], float64[:], int64", 2),
    "ends_set": ("float64[:], float64", 1),
    "inverted": ("float64[:]", 1),
    "named_alike": ("float64[:, :]", 1),
    "rows_set": ("float64[:, :], float64[:]", 1),
    "mirrored_rows": ("float64[:, :]", 2),
    "border_last": ("float64[:]", 1),
    "border_first": ("float64[:], float64[:]", 2),  # they may be one array
    "frame_set": ("float64[:, :], float64[:]", 1),
    "denoised": ("float64[:, :], float64[:, :], float64, float64", 2),
    "inflow": ("float64[:], float64, int64", 1),
    "of_a_neighbour": ("float64[:]", 3),
    "widths_of_parts": ("int64[:], int8[:]", 1),
}


def program_of(name: str, signature: str) -> Program:
    function = FUNCTIONS[name]
    return build(function, next(candidates(function, signature)), Globals(MODULE))


@pytest.mark.parametrize("name", JOINED)
def test_stages_that_are_left(name: str) -> None:
    signature, count = JOINED[name]
    left = [s for s in lower(program_of(name, signature))[0] if isinstance(s, Stage)]
    assert len(left) == count


@pytest.mark.parametrize("name", ["interior_added", "from_both_sides", "slopes_2d", "inverted"])
def test_each_element_is_stored_once(name: str) -> None:
    """The thread keeps it until all branches are behind it."""
    signature, _ = JOINED[name]
    (stage,) = [s for s in lower(program_of(name, signature))[0] if isinstance(s, Stage)]
    assert sum(isinstance(s, Write) for s in statements(stage.body)) == 1


def test_a_fill_moves_to_the_stage_that_adds_to_it() -> None:
    """So no stage stores zeros, or reads what it has to add to."""
    signature, _ = JOINED["denoised"]
    body, _ = lower(program_of("denoised", signature))
    stored = [{s.buffer for s in statements((x,)) if isinstance(s, Write)} for x in body]
    assert [s for s in stored if s] == [{"px", "py"}, {"out"}]


#: with the number of arrays of more than an element that are allocated
FOLDED = {
    "inverted_total": ("float64[:]", 0),
    "steepest": ("float64[:, :]", 0),
    "kept_and_folded": ("float64[:]", 1),
    "narrow_total": ("int64[:]", 0),
}


@pytest.mark.parametrize("name", FOLDED)
def test_what_threads_fold_alone_is_no_array(name: str) -> None:
    signature, count = FOLDED[name]
    items = plan(program_of(name, signature)).items
    allocated = [i.buffer for i in items_of(items) if isinstance(i, Alloc)]
    assert sum(bool(b.shape) for b in allocated) == count


@pytest.mark.parametrize("n", range(6))
def test_each_step_computes_what_numpy_does(n: int) -> None:
    program = program_of("from_both_sides", "float64[:]")
    u = np.arange(1.0, n + 1.0)
    v = u.copy()
    v[1:] += u[:-1]
    v[:-1] += u[1:]
    for name, body, context in steps(program):
        found = run(program, (u.copy(),), body, dict(context.buffers))
        np.testing.assert_array_equal(np.array(found), 2.0 * v, err_msg=name)
