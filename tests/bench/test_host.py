"""What libraries take on the host in a call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from porter.bench.child.host import Host
from porter.bench.gpus import GPUS
from porter.bench.model import modelled
from porter.bench.records import FunctionCounts, KernelCounts


def test_a_library_is_called_once_for_arguments_of_some_shapes() -> None:
    noted: list[tuple[str, float]] = []
    host = Host(lambda name, seconds: noted.append((name, seconds)))
    one = host.linalg.solve(2 * np.eye(3), np.ones(3))
    assert host.linalg.solve(np.zeros((3, 3)), np.zeros(3)) is one
    assert host.linalg.solve(np.eye(2), np.ones(2)).shape == (2,)
    assert [name for name, _ in noted] == 3 * ["np.linalg.solve"]
    assert noted[0] == noted[1] and all(seconds >= 0 for _, seconds in noted)
    with pytest.raises(host.linalg.LinAlgError):
        host.linalg.solve(np.zeros((4, 4)), np.zeros(4))
    assert host.float64 is np.float64


def test_the_host_takes_its_time_beside_the_kernels() -> None:
    kernel = KernelCounts("k", 1, 1, 128, {}, 1, 1, 8, 1, 1, 1, 0, 0, 1, 1)
    counts = FunctionCounts("f", kernels=(kernel,))
    gpu = GPUS["h200"]
    alone, beside = (
        modelled(c, gpu, "sm_90") for c in (counts, replace(counts, host_ms=100.0))
    )  # fmt: skip
    assert beside.ms == alone.ms + 100
    assert (alone.bound_by, beside.bound_by) == ("launches", "host")
