"""Every NumPy name that porter knows against NumPy, over the dtypes that the page claims."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.numpy_names.case import Row, Trial, table, trials
from tests.numpy_names.page import PAGE, README, page, untried
from tests.numpy_names.run import differs, on_machine, refusal_of
from tests.support.paths import ROOT
from tests.support.sampling import one_in

TABLE = table()
#: the names that people use most, in order: see the notes on NumPy's use
FIRST = """
.shape zeros array sqrt .dtype .ndim .reshape .T .size .copy .astype arange asarray where empty
sum sin dot .max cos abs .min exp .ravel ones .sum max any zeros_like concatenate linspace log
min atleast_1d deg2rad mean isnan .dot .flatten maximum all vstack linalg.norm ones_like full
eye clip meshgrid diff round .flat ceil hstack .real minimum append empty_like logical_and prod
floor arctan2 tile isclose ascontiguousarray .fill .squeeze .mean pad cross reshape copy argsort
unique power atleast_2d square cumsum size transpose isfinite stack log2 repeat log10 .swapaxes
.any swapaxes multiply broadcast_to argmax shape expand_dims sign divide roll allclose real
asanyarray .transpose gradient nonzero squeeze .tolist arctan .itemsize .clip fabs .base
moveaxis .conj logical_not sort arccos mod .view searchsorted argmin choose flipud outer tan
subtract logical_or isinf .item linalg.inv isin arcsin diag rad2deg flatnonzero insert take
fliplr mgrid .sort count_nonzero matmul linalg.solve finfo nanmax .flags .all .cumsum ndim
"""


def full_name(name: str) -> str:
    return f"ndarray{name}" if name.startswith(".") else f"numpy.{name}"


@pytest.mark.parametrize("name", one_in(4, (n for n, r in TABLE.items() if r.status != "refused")))
def test_every_form_does_what_numpy_does(name: str) -> None:
    for trial in trials({name: TABLE[name]}):
        assert (trial.label, differs(trial, on_machine(trial), quick=True)) == (trial.label, "")


REFUSED = [
    Trial(name, row, case, dtype)
    for name, row in TABLE.items()
    for case in (row.cases if row.status == "refused" else row.cases[:1])
    for dtype in (row.dtypes if row.status == "refused" else row.refused).split()
    if row.status in ("refused", "converted")
]


def test_what_the_page_calls_refused_is_refused() -> None:
    for trial in REFUSED:
        assert (trial.label, refusal_of(trial)[:4]) == (trial.label, "PRT9")


@pytest.mark.slow
@pytest.mark.parametrize("every", ["151", pytest.param("23", marks=pytest.mark.long)])
def test_a_part_runs_on_the_simulator(every: str) -> None:
    command = [sys.executable, "-m", "tests.numpy_names.run", "--every", every]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_known_name_has_a_row() -> None:
    assert untried(TABLE) == []


def test_the_first_150_names_have_a_status() -> None:
    assert [n for n in FIRST.split() if full_name(n) not in TABLE] == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.numpy_names.page`"
    assert f"lists {len(TABLE)} NumPy names" in README.read_text(encoding="utf-8")


def test_a_wrong_conversion_is_found() -> None:
    row = Row("v + 1", "A[:, 0] - s")
    for trial in trials({"wrong": row}):
        assert differs(trial, lambda v, *rest: v[..., :1] * 2, quick=True) != ""
    (trial,) = trials({"dtype": Row("v * 2", dtypes="f4")})
    assert "float64" in differs(trial, lambda v: v.astype("f8") * 2, quick=True)
