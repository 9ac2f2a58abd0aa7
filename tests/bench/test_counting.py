"""What the kernels of the golden modules execute in one call, without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.bench.counting import count
from porter.diagnostics import UsageError
from porter.verify.compile.backends import version
from tests.support.paths import ROOT

GOLDEN = ROOT / "tests" / "golden"
compiled = pytest.mark.skipif(version("numba-cuda") is None, reason="no CUDA compiler is installed")


@compiled
def test_an_elementwise_kernel_reads_and_writes_each_element_once() -> None:
    n = 1 << 23
    (found,) = count(GOLDEN / "gaussian_cuda.py", sizes={"n": n}, seconds=60)
    assert found.reason == "" and found.notes == ()
    assert found.size == {"n": n}
    assert (found.launches, found.allocations, found.read_backs) == (1, 1, 0)
    assert found.bytes == pytest.approx(2 * 8 * n)
    assert found.least_bytes == found.bytes
    (kernel,) = found.kernels
    assert kernel.sampled and kernel.threads == 256
    assert kernel.sectors == kernel.ideal_sectors == pytest.approx(2 * 8 * n / 32)
    assert kernel.elements == pytest.approx(n)
    assert kernel.active_lanes == 1
    assert 0 < kernel.f64 < kernel.instructions


@compiled
def test_time_steps_are_launches() -> None:
    sizes = {"n": 50, "m": 70, "steps": 1000}
    (found,) = count(GOLDEN / "heat_cuda.py", sizes=sizes, seconds=60)
    assert found.size == sizes
    assert found.launches == 1001 == sum(k.launches for k in found.kernels)
    assert found.least_bytes == pytest.approx(2 * 8 * 50 * 70, rel=0.02)


def test_a_file_without_a_header_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("x = 1\n")
    with pytest.raises(UsageError, match="no header"):
        count(path)
