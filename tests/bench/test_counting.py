"""What the kernels of the golden modules execute in one call, without a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from porter.bench.counting import count
from porter.diagnostics import UsageError
from porter.verify.compile.backends import version
from porter.verify.compile.compilers import Compiler
from porter.verify.evidence import SKIPPED, Evidence
from tests.corpus.convert import converted
from tests.support.commands import porter
from tests.support.paths import EXAMPLES, ROOT

GOLDEN = ROOT / "tests" / "golden"
compiled = pytest.mark.skipif(version("numba-cuda") is None, reason="no CUDA compiler is installed")


@compiled
def test_an_elementwise_kernel_reads_and_writes_each_element_once() -> None:
    n = 1 << 23
    (found,) = count(GOLDEN / "gaussian_cuda.py", sizes={"n": n}, seconds=60)
    assert found.reason == "" and found.notes == ()
    assert found.size == {"n": n}
    assert (found.launches, found.allocations, found.reused, found.read_backs) == (1, 0, 1, 0)
    assert found.bytes == pytest.approx(2 * 8 * n)
    assert found.least_bytes == found.bytes
    (kernel,) = found.kernels
    assert kernel.sampled and kernel.threads == 256
    assert kernel.sectors == kernel.ideal_sectors == pytest.approx(2 * 8 * n / 32)
    assert kernel.elements == pytest.approx(n)
    assert kernel.active_lanes == 1
    assert 0 < kernel.f64 < kernel.instructions


@compiled
def test_arrays_that_are_kept_are_no_allocations() -> None:
    """Nor are results, flags, temporaries and partial results, unless they are large."""
    sizes = {"n": 500, "m": 101, "k": 70}
    (found,) = count(GOLDEN / "csr_matvec_cuda.py", sizes=sizes, seconds=60)
    assert (found.reason, found.allocations, found.reused) == ("", 0, 1)
    (small,) = count(GOLDEN / "zscores_cuda.py", sizes={"n": 1000, "m": 64}, seconds=60)
    (large,) = count(GOLDEN / "zscores_cuda.py", sizes={"n": 10, "m": 40_000_000}, seconds=60)
    assert (small.allocations, small.reused) == (0, 1)
    assert (large.allocations, large.reused) == (3, 0)


@compiled
def test_time_steps_are_launches() -> None:
    sizes = {"n": 50, "m": 70, "steps": 1000}
    (found,) = count(GOLDEN / "heat_cuda.py", sizes=sizes, seconds=60)
    assert found.size == sizes
    # 248 of tiles do four turns each, and one copies the argument
    assert found.launches == 1 + 248 + 8 == sum(k.launches for k in found.kernels)
    # blocks of the borders have fewer elements, and five blocks stand for all
    assert found.least_bytes == pytest.approx(2 * 8 * 50 * 70, rel=0.2)


def test_a_file_without_a_header_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("x = 1\n")
    with pytest.raises(UsageError, match="no header"):
        count(path)


@compiled
def test_a_function_that_ends_its_process_costs_no_other_its_counts(tmp_path: Path) -> None:
    source = (EXAMPLES / "threshold.py").read_text("utf-8")
    head, mark, rest = source.partition("import numpy as np\n")
    body = rest.replace("    x[x < t] = 0", "    os._exit(7)")
    assert mark and body != rest
    (tmp_path / "threshold.py").write_text(f"{head}import os\n\n{mark}{body}", "utf-8")
    golden = (GOLDEN / "threshold_cuda.py").read_text("utf-8")
    module = tmp_path / "threshold_cuda.py"
    module.write_text(golden.replace("../../examples/threshold.py", "threshold.py"), "utf-8")
    first, second = count(module, sizes={"n": 1000}, seconds=60)
    assert first.reason == "the child process ended with exit code 7" and not first.kernels
    assert second.reason == "" and second.kernels


def test_without_a_compiler_the_reason_is_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Compiler, launches: dict[str, Any], *_: Any) -> dict[str, list[Evidence]]:
        reason = "no CUDA compiler found; install: x"
        return {name: [Evidence("ptx", SKIPPED, 0, {"reason": reason})] for name in launches}

    monkeypatch.setattr(Compiler, "evidence", none)
    (found,) = count(GOLDEN / "gaussian_cuda.py", sizes={"n": 1000}, seconds=60)
    assert found.reason == "no CUDA compiler found; install: x"
    assert found.kernels == () and found.size == {"n": 1000}


@compiled
@pytest.mark.slow
def test_where_kernels_compute_places_all_blocks_run_before_some_are_counted(
    tmp_path: Path,
) -> None:
    """Half of the elements pass a mask; where each goes, a scan of all others tells."""
    path = converted("compaction:compressed", tmp_path)
    (found,) = count(path, sizes={"n": 20_000, "m": 20_000}, seconds=20)
    assert found.reason == "" and found.size == {"n": 20_000, "m": 20_000}
    assert any("all blocks were" in note for note in found.notes)
    last = found.kernels[-1]
    assert last.sampled and last.classes["store"] == pytest.approx(10_000, rel=0.1)
    # with less time, fewer elements
    (less,) = count(path, sizes={"n": 1 << 20, "m": 1 << 20}, seconds=2)
    assert less.reason == "" and less.size["n"] < 1 << 20
    assert any("smaller sizes were counted" in note for note in less.notes)


SEQUENTIAL = """
import numpy as np

def forward(L, x, b):
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
"""
TYPES = "float64[:, :], float64[:], float64[:]"


@compiled
def test_a_loop_that_one_block_runs_is_counted_for_large_sizes(tmp_path: Path) -> None:
    """Its barriers grow as its turns, what it reads as their squares, however many there are."""
    source = tmp_path / "forward_numpy.py"
    source.write_text(SEQUENTIAL, "utf-8")
    module = tmp_path / "forward_cuda.py"
    given = ["-f", "forward", "--no-verify", "--signature", TYPES, "-o", str(module)]
    porter(tmp_path, "convert", str(source), *given).check_returncode()
    found = {}
    for n in (12, 2000, 8000):
        (counts,) = count(module, sizes={"n": n}, seconds=60)
        assert (counts.reason, counts.size["n"]) == ("", n)
        (found[n],) = counts.kernels
        said = any("some turns" in note for note in counts.notes)
        assert said == (n > 12) and found[n].sampled == (n > 12)
    small, some, large = found.values()
    assert some.barriers / 2000 == large.barriers / 8000 == pytest.approx(small.barriers / 12)
    assert large.sectors / some.sectors == pytest.approx(16, rel=0.1)
    # a triangle of the matrix is read once
    assert large.bytes == pytest.approx(8 * 8000**2 / 2, rel=0.25)
