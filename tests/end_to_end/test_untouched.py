"""A loop over nothing leaves Python's number, of Python's type."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

HERE = Path(__file__).parent


@pytest.mark.long
def test_a_loop_over_nothing_leaves_the_number_as_it_was(tmp_path: Path) -> None:
    source = HERE / "untouched_functions.py"
    command = [sys.executable, "-m", "porter", "convert", str(source), "--no-verify"]
    done = subprocess.run([*command, "-o", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    module = tmp_path / "untouched_functions_cuda.py"
    # the simulator runs a thread of Python for each
    module.write_text(module.read_text("utf-8").replace("THREADS = 256", "THREADS = 8"), "utf-8")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    child = [sys.executable, "-m", "tests.end_to_end.untouched_child", str(tmp_path)]
    said = subprocess.run(child, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert said.stdout == "compared\n", said.stdout + said.stderr
