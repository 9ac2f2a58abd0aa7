"""`verify --on gpu`: on a GPU where there is one, else with the simulator in the driver's place."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porter.verify.engines.sanitize import TOOLS, first_error
from tests.support.commands import porter
from tests.support.gpu import has_gpu
from tests.support.paths import EXAMPLES, GOLDEN, ROOT

MODULES = sorted(GOLDEN.glob("*_cuda.py"))
STAND_IN = Path(__file__).with_name("gpu_stand_in")

MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at out_of_bounds_kernel()+0x30 in memcheck_demo.cu:16
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x87654320 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========
========= ERROR SUMMARY: 1 error
"""
RACECHECK = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in racecheck.cu:17
=========     and Read access at sumKernel(int *, int *)+0xb0 in racecheck.cu:21 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""  # noqa: E501
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def verify(
    *args: str, stand_in: bool = True, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    given = filter(None, [os.environ.get("PYTHONPATH")])
    folders = [*([str(STAND_IN)] if stand_in else []), str(ROOT), *given]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return porter(ROOT, "verify", "--on", "gpu", *args, environment=environment)


def evidence(done: subprocess.CompletedProcess[str]) -> tuple[list[dict[str, Any]], Any]:
    """The evidence of the only function, and its mismatch."""
    assert done.stderr == ""
    [function] = json.loads(done.stdout)["modules"][0]["functions"]
    return function["evidence"], function["mismatch"]


def edited(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (GOLDEN / f"{name}_cuda.py").read_text("utf-8")
    assert old in text
    shutil.copy(EXAMPLES / f"{name}.py", tmp_path)
    text = text.replace(old, new).replace("../../examples/", "")
    path = tmp_path / f"{name}_cuda.py"
    path.write_text(text, "utf-8")
    return path


def sanitizer(folder: Path, log: str) -> Path:
    """A compute-sanitizer that runs what it is given and has that to say."""
    folder.mkdir()
    script = folder / "compute-sanitizer"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --tool ] || exit 9\nlog="$6"\nshift 6\n'
        f'cat > "$log" <<\'END\'\n{log}END\nexec "$@"\n',
        "utf-8",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_it_is_a_usage_error() -> None:
    done = verify(str(MODULES[0]), stand_in=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --on gpu: no NVIDIA GPU can be used here (")
    assert "help: `porter doctor`" in done.stderr


def test_a_right_kernel_passes_and_tells_the_gpu() -> None:
    done = verify("tests/golden/gaussian_cuda.py", "--output-format", "json")
    [gpu], mismatch = evidence(done)
    assert (done.returncode, mismatch, gpu["on"], gpu["status"]) == (0, None, "gpu", "passed")
    detail = gpu["detail"]
    assert gpu["cases"] == 48 and detail["gpu"] == "a stand-in"
    # half a millisecond for each but the first of a kernel with its types
    assert detail["kernel_milliseconds"] == detail["timed_launches"] / 2 > 0
    assert detail["timed_launches"] < detail["launches"]
    assert not detail["wrong_inputs"]


def test_a_wrong_kernel_fails_with_a_smaller_input(tmp_path: Path) -> None:
    path = edited(tmp_path, "gaussian", "if 0 <= i < x.shape[0]:", "if 0 <= i < x.shape[0] - 1:")
    done = verify(str(path), "--output-format", "json")
    [gpu], mismatch = evidence(done)
    assert (done.returncode, gpu["status"]) == (1, "failed")
    # what no thread stored is poisoned
    assert "nan" in mismatch["message"] and mismatch["shrunk"]
    assert mismatch["command"].endswith(f"--on gpu --case {mismatch['case']}")


def test_an_error_of_the_driver_ends_verification(tmp_path: Path) -> None:
    path = edited(tmp_path, "gaussian", "gaussian_pdf_kernel", "lost_kernel")
    done = verify(str(path), "--output-format", "json")
    [gpu], mismatch = evidence(done)
    assert (done.returncode, gpu["status"], mismatch["what"]) == (1, "failed", "launch")
    assert "`lost_kernel`: CudaAPIError: [700]" in mismatch["message"] and not mismatch["shrunk"]


def test_indices_out_of_range_are_not_tried(tmp_path: Path) -> None:
    made = tmp_path / "made_cuda.py"
    source = ROOT / "benchmarks" / "mutant_sources.py"
    given = ["--no-verify", "-o", str(made), "-f", "histogram", str(source)]
    porter(tmp_path, "convert", *given).check_returncode()
    done = verify(str(made), "-f", "histogram", "--output-format", "json")
    [gpu], _ = evidence(done)
    assert gpu["status"] == "passed"
    # where the original raises IndexError, inputs that it takes are found by trying
    assert gpu["detail"]["exceptions"] == 0 == gpu["detail"].get("not_compared", 0)
    assert gpu["detail"]["values"] > 0


def test_the_sanitizer_repeats_verification(tmp_path: Path) -> None:
    path = sanitizer(tmp_path / "bin", CLEAN)
    done = verify("--sanitize", "tests/golden/gaussian_cuda.py", path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line.partition(":")[0].strip() for line in done.stdout.splitlines()[2:]]
    place = "verified on the GPU"
    assert said == [place, *(f"{place} under {tool}" for tool in TOOLS)]
    assert "memcheck: 16 cases passed" in done.stdout


def test_what_the_sanitizer_finds_is_a_failure(tmp_path: Path) -> None:
    path = sanitizer(tmp_path / "bin", MEMCHECK)
    file = "tests/golden/gaussian_cuda.py"
    done = verify("--sanitize", file, "--output-format", "json", path=path)
    found, mismatch = evidence(done)
    assert done.returncode == 1
    assert [e["status"] for e in found] == ["passed", "failed", "failed"]
    assert mismatch["what"] == "sanitizer"
    assert mismatch["message"].startswith("memcheck: Invalid __global__ write of size 4 bytes; at")


@pytest.mark.skipif(shutil.which("compute-sanitizer") is not None, reason="it is installed")
def test_without_the_sanitizer_it_is_a_usage_error() -> None:
    done = verify("--sanitize", str(MODULES[0]))
    assert done.returncode == 2 and "pip install nvidia-cuda-sanitizer-api" in done.stderr


def test_the_sanitizer_needs_a_gpu() -> None:
    command = [sys.executable, "-m", "porter", "verify", "--sanitize", str(MODULES[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: --sanitize is for a GPU: add --on gpu\n")


def test_logs_are_read() -> None:
    assert first_error(MEMCHECK) == (
        "Invalid __global__ write of size 4 bytes; at out_of_bounds_kernel()+0x30 in "
        "memcheck_demo.cu:16; by thread (0,0,0) in block (0,0,0)"
    )
    assert first_error(RACECHECK).startswith("Error: Race reported between Write access at sum")
    assert "and Read access at" in first_error(RACECHECK)
    assert first_error(CLEAN) == first_error("") == ""


@pytest.mark.gpu
@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_golden_modules_on_a_gpu(path: Path) -> None:
    done = verify(str(path), stand_in=False)
    assert done.returncode == 0, done.stdout + done.stderr
