"""The generator of broken kernels, some of its mutants judged, and the races it led to."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from porter.dtypes.signatures import parse_types
from porter.verify.inputs.arguments import Parameter, build
from porter.verify.inputs.cases import TABLE, specs
from porter.verify.run import verify_module
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from mutants import judge, modules, sample
from mutants_reviewed import REVIEWED, equivalent
from mutations import KINDS, Module, Mutant, mutants

Made = list[tuple[Path, Module, list[Mutant]]]

#: the mutants alone take a minute to make
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("mutants")
    return [(path, module, list(mutants(module))) for path, module in modules(folder)]


def test_there_are_mutants_of_every_kind_and_all_parse(made: Made) -> None:
    found = [m for _, _, drawn in made for m in drawn]
    assert {m.kind for m in found} == set(KINDS) and len(KINDS) >= 15
    for _, module, drawn in made:
        texts = {m.text for m in drawn}
        assert len(texts) == len(drawn) and module.text not in texts
        assert all(m.proves and set(m.proves) <= set(module.hosts) for m in drawn)
    assert len({m.key for m in found}) > 0.98 * len(found)
    for mutant in sample(found, 100, seed=3):
        ast.parse(mutant.text)


def test_a_mutant_differs_in_the_lines_that_it_names(made: Made) -> None:
    _, module, drawn = next(row for row in made if row[1].name == "softmax")
    before = module.text.splitlines()
    for mutant in drawn:
        after = mutant.text.splitlines()
        same = next(k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        # a statement may begin above the word that changes
        assert abs(same + 1 - mutant.line) <= 12
        assert mutant.before != mutant.after


def test_a_sample_is_the_same_each_time_and_has_every_kind(made: Made) -> None:
    found = [m for _, _, drawn in made for m in drawn]
    drawn = sample(found, len(KINDS), seed=1)
    assert drawn == sample(found, len(KINDS), seed=1)
    assert {m.kind for m in drawn} == set(KINDS)
    assert drawn != sample(found, len(KINDS), seed=2)


#: each was missed once: what it takes to catch it is part of the default verification
MISSED = [
    # a store of two threads, right by luck where one runs at a time
    ("mutant_sources", "no atomic", "+= np.float64(weights[i])"),
    # only the last of three dimensions is empty
    ("pairwise", "< for <=", "if x.shape[0] > 0 and y.shape[0] >= 0"),
    # bounds of slices that stand in an array lie beyond its ends, indices beside them do not
    ("csr_matvec", "guard off by one", "if k < 0 - 1:"),
    # memory that nothing was stored into holds what the result is, NaN
    ("zscores", "guard off by one", "if table.shape[0] > 0 + 1 and"),
    # a count of none, and no elements
    ("mutant_sources", "guard dropped", "if True:"),
    # whole numbers, so that a bound is met exactly
    ("mandelbrot", "< for <=", "if x * x + y * y >= T(4.0):"),
    # a negative limit, and a zero
    ("threshold", "branch dropped", "return (-one)"),
]


@pytest.mark.parametrize(("module", "kind", "after"), MISSED)
def test_what_was_missed_is_caught(made: Made, module: str, kind: str, after: str) -> None:
    path, _, drawn = next(row for row in made if row[1].name == module)
    mutant = next(m for m in drawn if m.kind == kind and after in m.after)
    verdict = judge(path, mutant)
    assert verdict.caught == "simulator", verdict
    assert verdict.message


def test_extremes_stand_at_the_ends_of_axes_in_some_cases() -> None:
    """A loop that stops early keeps the minimum otherwise, as long as it is found before."""
    matrix = Parameter("x", parse_types("float64[:, :]")[0], ("n", "m"))
    seen = set()
    for spec in specs(len(TABLE)):
        if not spec.ends:
            continue
        values = build([matrix], spec, {}, np.random.default_rng(1)).arguments[0].value
        inner = values[:-1, :-1]
        ends = np.concatenate([values[-1], values[:-1, -1]])
        seen.add((spec.ends, values.shape[0] > 20))
        high = ends.min() > inner.max() if spec.ends == "largest" else inner.min() > ends.max()
        assert high, spec
    assert len(seen) == 4


def test_a_stride_that_takes_few_blocks_for_granted_is_caught(made: Made) -> None:
    """Small blocks show it, and then, with the module's own, the emulator's large grids."""
    path, _, drawn = next(row for row in made if row[1].name == "softmax")
    stored = "p += cuda.gridDim.x"
    mutant = next(m for m in drawn if m.after == stored)
    (found,) = verify_module(path, on=("emulator",), text=mutant.text, cases=5)
    (evidence,) = found.evidence
    assert evidence.status == "failed" and evidence.detail["own_blocks"]


def test_every_reason_is_of_a_mutant_that_there_is(made: Made) -> None:
    found = [m for _, _, drawn in made for m in drawn]
    for row in REVIEWED:
        reasons = [equivalent(*m.key, doubles=False) for m in found]
        assert row[3] in reasons, row
    kinds = {m.kind for m in found if equivalent(*m.key, doubles=False)}
    assert not kinds & {"no atomic", "store dropped", "wrong neighbour"}


def test_two_threads_that_store_different_numbers_are_a_race() -> None:
    racing = ["no_atomic", "two_write_one"]
    right = ["right_reduction", "right_refilling", "right_histogram"]
    right += ["flag", "handed_on", "locked"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.verify.engines.writes_child", *racing, *right],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert all("RaceError: race on `out[" in said[name] for name in racing), said
    assert [said[name] for name in right] == [""] * len(right)
