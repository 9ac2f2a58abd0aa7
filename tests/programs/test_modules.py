"""Random modules around a small function: refused, or the same as Python (`modules_run.py`)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT


def run(count: int, seed: int) -> str:
    command = [sys.executable, "-m", "tests.programs.modules_run", "--count", str(count)]
    command += ["--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.long
def test_random_modules() -> None:
    said = run(75, 1)
    right = int(said.partition(" right")[0].rpartition(" ")[2])
    assert right > 37, said


@pytest.mark.long
def test_five_thousand_random_modules() -> None:
    run(5000, 0)
