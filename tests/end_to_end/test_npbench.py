"""The benchmark over NPBench, on a tree of the same form that is made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import npbench, npbench_child
from tests.support.paths import ROOT

SCRIPT = ROOT / "benchmarks" / "npbench.py"
INITIALIZE = """
import numpy as np


def initialize(N, datatype=np.float64):
    A = np.fromfunction(lambda i, j: (i + j) / N, (N, N), dtype=datatype)
    return A
"""
SCALED = """
def kernel(steps, A):
    for t in range(steps):
        A[1:-1] = 2.0 * A[1:-1]
"""
SORTED = """
import numpy as np


def kernel(steps, A):
    return np.sort(A, kind="stable")
"""
IDLE = """
def kernel(steps, A):
    A[:] = 1.0 * A
"""


def add(tree: Path, name: str, program: str) -> None:
    """One benchmark: its description, its initializer and its NumPy program."""
    info = {
        "relative_path": f"group/{name}",
        "module_name": name,
        "func_name": "kernel",
        "parameters": {"S": {"steps": 2, "N": 150}},
        "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["A"]},
        "input_args": ["steps", "A"],
    }
    folder = tree / "npbench" / "benchmarks" / "group" / name
    folder.mkdir(parents=True)
    (tree / "bench_info").mkdir(exist_ok=True)
    (tree / "bench_info" / f"{name}.json").write_text(json.dumps({"benchmark": info}))
    (folder / f"{name}.py").write_text(INITIALIZE)
    (folder / f"{name}_numpy.py").write_text(program)


def run(tree: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The script on a tree."""
    command = [sys.executable, str(SCRIPT), "--npbench", str(tree), "--no-verify", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with one program that converts and one that porter refuses."""
    add(tmp_path, "scaled", SCALED)
    add(tmp_path, "sorted", SORTED)
    return tmp_path


def test_rows_and_page(tree: Path, tmp_path: Path) -> None:
    done = run(tree, "--write", str(tmp_path / "page.md"))
    assert done.returncode == 0, done.stdout + done.stderr
    words = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert words["scaled"][1:4] == ["converted", "1", "1"]
    assert words["sorted"][1] != "wrong"
    page = (tmp_path / "page.md").read_text()
    assert "| scaled | converted | 1 | 1 |" in page
    assert "--npbench" in page


def test_a_program_that_shows_nothing_is_not_called_right(tmp_path: Path) -> None:
    add(tmp_path, "idle", IDLE)
    done = run(tmp_path)
    assert done.returncode == 1
    assert "nothing that the call leaves differs" in done.stdout


def test_a_wrong_module_is_found(tree: Path, tmp_path: Path) -> None:
    done = run(tree, "--only", "scaled", "--modules", str(tmp_path / "modules"))
    assert done.returncode == 0, done.stdout + done.stderr
    module = tmp_path / "modules" / "scaled_cuda.py"
    text = module.read_text()
    assert "T(2.0) *" in text
    module.write_text(text.replace("T(2.0) *", "T(1.0) *"))
    child = [sys.executable, str(SCRIPT.with_name("npbench_child.py")), "compare"]
    done = subprocess.run(
        [*child, str(tmp_path / "modules" / "scaled.json")],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={"NUMBA_ENABLE_CUDASIM": "1", "PATH": ""},
    )
    (found,) = json.loads(done.stdout.splitlines()[-1])["wrong"]
    assert "the arguments are as they were given" in found


SLOW = """
import time


def kernel(steps, A):
    A[:] = 2.0 * A
    end = time.process_time() + 0.05 * len(A) / 3
    while time.process_time() < end:
        pass
"""


def test_sizes_at_which_the_original_takes_long_are_left_out(tmp_path: Path) -> None:
    # a loop on the host that launches as often would take the simulator minutes
    add(tmp_path, "slow", SLOW)
    (program,) = npbench.programs(tmp_path)
    options = npbench.parser().parse_args(["--npbench", str(tmp_path)])
    request = program.request(options, tmp_path / "slow_cuda.py")
    original = npbench_child.load(program.source, "kernel")
    assert [len(a[1]) for a in npbench_child.sizes(request, original).values()] == [3, 1]


def test_no_checkout(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "no bench_info" in done.stderr
