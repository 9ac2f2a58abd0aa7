"""What libraries take on the host in a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from porter.bench.child.host import Cupy, Host
from porter.bench.child.operations import Total
from porter.bench.gpus import COLUMN, GPUS, OPERATION
from porter.bench.model import modelled
from porter.bench.records import FunctionCounts, KernelCounts, Step
from porter.verify.engines.cupy.arrays import ndarray
from porter.verify.engines.cupy.stand_in import package


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


def test_the_functions_of_cupy_are_operations_of_the_device() -> None:
    noted: list[tuple[dict[str, Total], list[Any], list[Any]]] = []
    cp = Cupy(package(), np, lambda *parts: noted.append(parts))
    # zeros stand where a kernel would have stored a matrix
    a, b = np.zeros((6, 6), complex), np.ones((6, 4), complex)
    one = cp.linalg.solve(cp.asarray(ndarray(a)), ndarray(b))
    assert cp.linalg.solve(ndarray(2 * np.eye(6, dtype=complex)), ndarray(b)) is one
    assert one.shape == (6, 4) and not a.any()
    totals, given, made = noted[0]
    assert totals["solve"].columns == 6 and totals["solve"].products == 4 * (72 + 144)
    assert given[0] is a and made[0].shape == (6, 4) and len(noted) == 2
    cp.matmul(ndarray(b), ndarray(np.ones((4, 5))))
    assert noted[-1][0]["matmul"].products == 4 * 6 * 4 * 5


def test_a_library_on_the_device_takes_the_time_of_its_operations() -> None:
    gpu = GPUS["h200"]
    one = FunctionCounts("f", library=(Step("solve", 2, 4096, 1e6, False, 1000),))
    times = modelled(one, gpu, "sm_90")
    assert times.bound_by == "library" and times.ms > 1000 * COLUMN / 1e3
    small = modelled(replace(one, library=(Step("solve", 2, 4096),)), gpu, "sm_90")
    assert small.bound_by == "launches" and small.ms == pytest.approx(2 * OPERATION / 1e3)
