"""No golden kernel executes more than `tests/golden/counts.json` says."""

from __future__ import annotations

import pytest

from tests.support.paths import GOLDEN
from tests.tools.golden_counts import (
    PROGRAMS,
    counted,
    counted_program,
    drawn,
    grown,
    modules,
    read,
)

HOW = "if that is meant: python -m tests.tools.golden_counts --write"
#: those that together have each schedule; the others run with -m long
OFTEN = {"heat_cuda.py", "matmul_cuda.py", "softmax_cuda.py", "csr_matvec_cuda.py"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in OFTEN else pytest.mark.long) for n in modules()],
)
def test_no_golden_kernel_costs_more(name: str) -> None:
    pytest.importorskip("cuda.bindings")
    before, now = read()[name], counted(GOLDEN / name)
    assert {f: grown(before[f], counts) for f, counts in now.items()} == {f: [] for f in now}, HOW


@pytest.mark.long
@pytest.mark.parametrize("key", drawn())
def test_no_program_of_the_corpus_costs_more(key: str) -> None:
    pytest.importorskip("cuda.bindings")
    assert grown(read()["corpus"][key], counted_program(key)) == [], HOW


def test_what_grows_is_found() -> None:
    before = {
        "size": {"n": 8}, "launches": 1, "allocations": 1, "bytes": 64,
        "kernels": {"f_kernel": {"instructions": 100, "sectors": 4}},
    }  # fmt: skip
    assert grown(before, before | {"kernels": {"g": {"instructions": 102, "sectors": 4}}}) == []
    more = before | {"launches": 2, "kernels": {"g": {"instructions": 103, "sectors": 4}}}
    assert grown(before, more) == [
        "launches: 1 in the file, 2 now",
        "instructions: 100 in the file, 103 now",
    ]
    assert grown(before, {"reason": "no compiler"})
    assert set(read()) == {*modules(), "corpus"}
    assert set(read()["corpus"]) == set(drawn()) and len(drawn()) == PROGRAMS
