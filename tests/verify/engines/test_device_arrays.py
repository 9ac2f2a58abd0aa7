"""Device arrays are no more than they are on a GPU, while a proof runs on the simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.paths import ROOT

CHILD = """
import json, sys
sys.path.insert(0, "tests/golden")
import numpy as np
from numba import cuda
from porter.verify.engines.simulator import install
install()
import gaussian_cuda, threshold_cuda

def said(what):
    try:
        return what()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

whole = np.arange(48.0).reshape(6, 8)
base = cuda.to_device(whole)
gaps = base[1::2, 1::2]
print(json.dumps({
    "mean": said(lambda: base.mean()),
    "sum": said(lambda: (base + base).shape),
    "length": said(lambda: len(base)),
    "reshaped": said(lambda: base.reshape(48).copy_to_host().tolist() == list(range(48))),
    "reshaped with gaps": said(lambda: gaps.reshape(12)),
    "flattened": said(lambda: gaussian_cuda.gaussian_pdf(base, 1.0, 2.0).shape == (6, 8)),
    "flattened with gaps": said(lambda: gaussian_cuda.gaussian_pdf(gaps, 1.0, 2.0)),
    "one dimension with gaps": said(
        lambda: gaussian_cuda.gaussian_pdf(base[2, ::3], 1.0, 2.0).copy_to_host().shape == (3,)),
    "in place": said(lambda: threshold_cuda.threshold(base, 40.0)),
    "stored": base.copy_to_host().tolist() == np.where(whole < 40, 0, whole).tolist(),
}))
"""


def test_a_device_array_is_what_it_is_on_a_gpu() -> None:
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("mean") == "AttributeError: a device array has no attribute `mean`"
    assert found.pop("sum").startswith("TypeError: unsupported operand")
    assert found.pop("reshaped with gaps").startswith("NeedsCopy")
    gaps = "ValueError: a device array with gaps cannot be flattened: pass a contiguous copy"
    assert found.pop("flattened with gaps") == gaps
    assert found == {
        "length": 6, "reshaped": True, "flattened": True, "one dimension with gaps": True,
        "in place": None, "stored": True,
    }  # fmt: skip
