"""Modules where `numba.cuda` is real: kernels compile, what a graph records is not waited for."""

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


GRAPH = """
import sys
from types import ModuleType, SimpleNamespace

from porter.verify.engines import gpu

statuses = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE=1)
driver = ModuleType("cuda.bindings.driver")
driver.CUstreamCaptureStatus = statuses
driver.cuStreamIsCapturing = lambda handle: (0, int(handle == 7))
sys.modules["cuda.bindings.driver"] = driver

waited, launched = [], []
gpu.cuda = SimpleNamespace(
    event=lambda: SimpleNamespace(
        record=lambda: None, synchronize=lambda: waited.append(1), elapsed_time=lambda end: 1.0
    ),
    synchronize=lambda: waited.append(1),
)


def kernel(x):
    pass


engine = gpu.Gpu.__new__(gpu.Gpu)
engine.clear()
engine._plain_launch = lambda configured, *args: launched.append(configured.stream)
for handle in (7, 0, 3):
    configured = SimpleNamespace(
        dispatcher=SimpleNamespace(py_func=kernel), griddim=(1, 1, 1), blockdim=(32, 1, 1),
        stream=SimpleNamespace(handle=handle),
    )
    engine.launch(configured, ())
    print(handle, len(launched), len(waited))
"""


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="needs numba-cuda")
def test_what_a_graph_records_is_not_waited_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GRAPH], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "7 1 0\n0 2 2\n3 3 4\n"), done.stderr
