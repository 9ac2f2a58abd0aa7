"""A module that is loaded where `numba.cuda` is real has kernels that compile."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.support.paths import GOLDEN

#: softmax divides and calls device functions
SCRIPT = """
from pathlib import Path
from numba import float64, void
from porter.verify import generated
from porter.verify.compile.backends import Numba

path = Path({path!r})
module = generated.load(path, path.read_text(), generated.OF_A_GPU)
arrays = float64[:, ::1], float64[:, ::1]
text, _ = Numba().cuda.compile_ptx(module.softmax_rows.py_func, void(*arrays), cc=(9, 0))
print("div.rn.f64" in text)
"""


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="needs numba-cuda")
def test_kernels_keep_their_arithmetic() -> None:
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    script = SCRIPT.format(path=str(GOLDEN / "softmax_cuda.py"))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
