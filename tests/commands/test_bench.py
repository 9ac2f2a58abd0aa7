"""`porter bench` on golden modules, without a GPU."""

from __future__ import annotations

import json

import pytest

from porter.bench.counting import SECONDS, Counting
from porter.cli import main
from porter.verify.compile.backends import version
from tests.support.paths import ROOT

GOLDEN = ROOT / "tests" / "golden"
compiled = pytest.mark.skipif(version("numba-cuda") is None, reason="no CUDA compiler is installed")
#: the contract of docs and of scripts outside of the project
FUNCTION = {
    "name", "size", "launches", "allocations", "read_backs", "bytes", "least_bytes", "kernels",
    "modelled", "measured",
}  # fmt: skip
KERNEL = {
    "name", "launches", "blocks", "threads", "instructions", "per_element", "divisions", "f64",
    "sectors", "ideal_sectors", "bank_conflicts", "active_lanes", "barriers", "registers",
    "spill_bytes", "shared_bytes", "occupancy",
}  # fmt: skip


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*args])
    return int(ended.value.code or 0)


@compiled
def test_json_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    module = str(GOLDEN / "black_scholes_cuda.py")
    size, form = ["--size", "n=1e6"], ["--output-format", "json"]
    assert run("bench", module, "-f", "normal_cdf", "--gpu", "t4", *size, *form) == 0
    (found,) = json.loads(capsys.readouterr().out)["modules"]
    assert found["path"] == module
    (function,) = found["functions"]
    assert function.keys() >= FUNCTION
    assert function["size"] == {"n": 1_000_000}
    assert function["bytes"] == pytest.approx(16e6, rel=0.01)
    (kernel,) = function["kernels"]
    assert kernel.keys() >= KERNEL
    times = function["modelled"]
    assert times.keys() >= {"gpu", "ms", "cupy_ms", "least_ms", "bound_by"}
    assert (times["gpu"], times["arch"]) == ("t4", "sm_75")
    # a T4 has few lanes for float64
    assert times["bound_by"] == "instructions" and times["ms"] > times["least_ms"]


@compiled
def test_the_table_says_modelled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("bench", str(GOLDEN / "softmax_cuda.py"), "--size", "n=64,m=100") == 0
    out = capsys.readouterr().out
    assert "softmax(float64[:, :])  n=64, m=100" in out
    assert "modelled on H200 SXM, sm_90" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_size_that_no_function_has_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    module = str(GOLDEN / "softmax_cuda.py")
    assert run("bench", module, "--size", "q=3") == 2
    assert "no function has a size `q` (sizes: m, n)" in capsys.readouterr().err


def test_a_file_without_a_header_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("bench", str(ROOT / "examples" / "heat.py")) == 2
    assert "no header" in capsys.readouterr().err


def test_more_time_counts_larger_sizes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def counting(*_: object, seconds: float, **__: object) -> Counting:
        given.append(seconds)
        return Counting([], frozenset())

    monkeypatch.setattr("porter.commands.bench.counting", counting)
    module = str(GOLDEN / "softmax_cuda.py")
    run("bench", module)
    run("bench", module, "--seconds", "30")
    assert given == [SECONDS, 30.0]
    assert run("bench", module, "--seconds", "0.5") == 2


@compiled
@pytest.mark.slow
def test_a_module_of_cupy_is_compared_with_the_kernels_of_its_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = GOLDEN / "cupy" / "softmax_cupy.py"
    assert run("bench", str(module), "--output-format", "json") == 0
    (found,) = json.loads(capsys.readouterr().out)["modules"]
    (function,) = found["functions"]
    assert found["path"] == str(module)
    assert [k["name"] for k in function["kernels"]] == ["softmax_rows"]
    assert function["modelled"]["cupy_ms"] > function["modelled"]["ms"]
    assert "operation by operation is what this module does" in function["notes"][0]
