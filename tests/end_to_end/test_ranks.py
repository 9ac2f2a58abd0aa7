"""Other ranks and axes of size 1 than a function was converted for, on Numba's simulator."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT

#: an elementwise function that stores through `x[:]` takes a number, too, where NumPy raises
OF_A_NUMBER = "no exception, NumPy raises IndexError: too many indices for array"

#: reductions of numbers, an axis of size 1 that is no leading one, results of two shapes
LEFT = re.compile(
    r"all -2|(angle_between argument [01]|weighted argument 0) axis [12] 1|centred_pair"
)


def judged(*patterns: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.ranks", *patterns],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong(found: list[dict[str, Any]]) -> list[str]:
    return [f"{f['key']} {w}" for f in found for w in f["wrong"] if OF_A_NUMBER not in w]


def refused(found: list[dict[str, Any]]) -> list[str]:
    return [f"{f['key']} {w}" for f in found for w in f["refused"]]


@pytest.mark.long
def test_functions_of_the_last_axes_take_any_rank() -> None:
    found = judged("leading_axes:")
    assert {f["function"] for f in found} >= {"norm_last", "angle_between", "bounds", "weighted"}
    assert wrong(found) == []
    assert [r for r in refused(found) if not LEFT.search(r)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        pytest.param("examples/", marks=pytest.mark.long),
        pytest.param("layers:", marks=pytest.mark.long),
        pytest.param("row_reductions:", marks=pytest.mark.long),
        "widening:",
    ],
)
def test_no_call_of_another_rank_is_wrong(part: str) -> None:
    found = judged(part)
    assert found
    assert wrong(found) == []


@pytest.mark.slow
def test_results_of_some_arguments_have_their_shape() -> None:
    found = judged(
        "tricky:compare_nan",
        "finance:bond_prices",
        "found:shifted_by_numbers",
        "true_division_of_integers",
    )
    assert wrong(found) == []
    # a name that is bound to another array
    assert [r for r in refused(found) if "bond_prices" not in r] == []
