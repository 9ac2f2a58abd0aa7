"""Every example called in every way, beside its NumPy original, on Numba's simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from porter.rules.engine import analyze
from porter.source.files import read
from tests.support.paths import EXAMPLES, GOLDEN, ROOT

#: those that take half a minute
LONG = {
    "l2_norms_cuda.py",
    "matmul_cuda.py",
    "pairwise_cuda.py",
    "row_normalize_cuda.py",
    "softmax_cuda.py",
}
MODULES = sorted(GOLDEN.glob("*_cuda.py"))
#: random numbers are not NumPy's
DRAWING = {"monte_carlo_pi_cuda.py"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        pytest.param(
            path,
            id=path.stem.removesuffix("_cuda"),
            marks=[pytest.mark.long] if path.name in LONG else [],
        )
        for path in MODULES
        if path.name not in DRAWING
    ],
)
def test_example_behaves_as_numpy_does(module: Path) -> None:
    source = EXAMPLES / f"{module.stem.removesuffix('_cuda')}.py"
    done = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.sweep_child", str(module), str(source)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failures"] == []
    # as many calls for each of the file's functions, or the sweep itself is broken
    functions = sum(line.startswith("# porter: function ") for line in _lines(module))
    assert found["calls"] >= 60 * functions


def test_nothing_is_found_in_what_porter_writes() -> None:
    # both hooks may run on one repository
    for module in MODULES:
        assert [d.message for d in analyze(read(str(module))).diagnostics] == [], module.name


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()
