"""`verify --on ptx`: the compiled kernels run, and what is wrong in them is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from porter.verify.compile.texts import alike, keep, read, serves
from porter.verify.evidence import FAILED, PASSED, SKIPPED, FunctionEvidence
from porter.verify.report import lines
from porter.verify.run import EXECUTED, _observed, verify_module
from tests.support.machine import compiler
from tests.support.paths import EXAMPLES, GOLDEN
from tests.support.verification import copy

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no CUDA compiler is installed")


def executed(path: Path, name: str, **options: Any) -> FunctionEvidence:
    chosen: dict[str, Any] = {"on": ("ptx",), "functions": (name,), "archs": ("sm_75", "sm_90")}
    return verify_module(path, **(chosen | options))[0]


@needs_compiler
@pytest.mark.slow
def test_the_compiled_kernels_run_for_each_architecture(tmp_path: Path) -> None:
    found = executed(copy(tmp_path, "rows"), "softmax", cases=10)
    assert [e.detail["arch"] for e in found.evidence] == ["sm_75", "sm_90"]
    assert [e.status for e in found.evidence] == [PASSED] * 2
    assert all(e.detail["cases"] >= 8 for e in found.evidence) and found.mismatch is None
    assert any("verified on the compiled PTX: " in line for line in lines(found))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # what one warp leaves in shared memory, the others read too early
        (
            "            buffer[t] += buffer[t + width]\n        cuda.syncthreads()",
            "            buffer[t] += buffer[t + width]",
        ),
        ("width = THREADS // 2", "width = THREADS // 4"),
    ],
    ids=["a missing barrier", "half of a block"],
)
def test_a_wrong_kernel_is_found(tmp_path: Path, old: str, new: str) -> None:
    found = executed(copy(tmp_path, "rows", old, new), "softmax", archs=("sm_90",))
    assert [e.status for e in found.evidence] == [FAILED] and found.mismatch is not None
    assert "--on ptx" in found.mismatch.command
    assert any(line.startswith("failed on the compiled PTX for sm_90: ") for line in lines(found))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("difference", "    i = cuda.grid(1)\n    if i <", "    i = cuda.threadIdx.x\n    if i <"),
        ("density", "step = cuda.gridsize(1)", "step = x.shape[0]"),
        (
            "density",
            "out = cuda.device_array(n, x.dtype, stream=stream)",
            "kept = vars(density).setdefault('kept', {})\n"
            "    out = kept.setdefault((n, T), cuda.device_array(n, x.dtype, stream=stream))",
        ),
        ("density", "    if n:\n", "    if n < 0:\n"),
    ],
    ids=["one block", "no second step", "a buffer is kept", "no launch"],
)
def test_alone_it_finds_what_other_engines_look_for(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    found = executed(copy(tmp_path, "maps", old, new), name, archs=("sm_90",), cases=10)
    assert [e.status for e in found.evidence] == [FAILED] and found.mismatch is not None


@needs_compiler
@pytest.mark.long
def test_alone_it_compares_distributions(tmp_path: Path) -> None:
    path = tmp_path / "made" / "monte_carlo_pi_cuda.py"
    text = (GOLDEN / path.name).read_text("utf-8")
    (tmp_path / "examples").mkdir()
    (path.parent).mkdir()
    source = (EXAMPLES / "monte_carlo_pi.py").read_bytes()
    (tmp_path / "examples" / "monte_carlo_pi.py").write_bytes(source)
    text = text.replace("source ../../examples/", "source ../examples/")
    assert text.count("draw2**2") == 1
    path.write_text(text.replace("draw2**2", "draw2**3"), "utf-8")
    found = executed(path, "monte_carlo_pi", archs=("sm_90",), cases=6)
    assert found.mismatch is not None and found.mismatch.what == "distribution"


def test_what_does_not_end_on_the_simulator_has_failed() -> None:
    for what, status in (("hang", FAILED), ("load", SKIPPED)):
        done: dict[str, Any] = {"mismatch": {"what": what, "message": "timed out"}, "launches": []}
        assert [e.status for e in _observed(done, [])] == [status]


@needs_compiler
def test_the_default_runs_them_too_within_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy(tmp_path, "rows")
    (found,) = verify_module(path, functions=("softmax",), archs=("sm_90",))
    (compiled,) = (e for e in found.evidence if e.on == "ptx")
    assert compiled.detail["cases"] == EXECUTED and found.verified
    assert found.summary()[-1] == f"ptx sm_90 {EXECUTED} cases"
    monkeypatch.setattr("porter.verify.run.INSTRUCTIONS", 100)
    (found,) = verify_module(path, functions=("softmax",), archs=("sm_90",))
    (compiled,) = (e for e in found.evidence if e.on == "ptx")
    assert compiled.status == PASSED and not compiled.detail["cases"]
    assert "instructions" in compiled.detail["not_executed"] and found.verified
    assert found.summary()[-1] == "ptx sm_90"


@needs_compiler
def test_what_is_wrong_already_is_not_run_again(tmp_path: Path) -> None:
    path = copy(tmp_path, "maps", "x[i] > T(1)", "x[i] >= T(1)")
    (found,) = verify_module(path, functions=("threshold",), archs=("sm_90",))
    assert found.failed and found.mismatch is not None and "--on ptx" not in found.mismatch.command
    assert all("cases" not in e.detail for e in found.evidence if e.on == "ptx")


ARRAY = {"array": "float32", "ndim": 2}


def test_texts_are_kept_with_their_types(tmp_path: Path) -> None:
    types = [ARRAY | {"layout": "A"}, {"scalar": "int64"}]
    for arch in ("sm_75", "sm_80", "sm_90"):
        body = "add.s64" if arch == "sm_90" else "add.s32"
        keep(tmp_path, {"kernel": "k", "types": types}, arch, f".target {arch}\n{body}")
    found = read(tmp_path)
    assert {(t.kernel, t.arch) for t in found} == {("k", f"sm_{n}") for n in (75, 80, 90)}
    assert sorted(map(sorted, alike(found))) == [["sm_75", "sm_80"], ["sm_90"]]
    assert read(tmp_path / "nothing") == []


def test_a_kernel_for_any_layout_takes_each() -> None:
    any_layout, rows = [ARRAY | {"layout": "A"}], [ARRAY | {"layout": "C"}]
    assert serves(rows, rows) and serves(any_layout, rows)
    assert not serves(rows, any_layout) and not serves(rows, [])
    assert not serves(any_layout, [{"array": "float64", "ndim": 2, "layout": "C"}])
