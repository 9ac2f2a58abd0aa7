"""Programs of a schedule in a process of their own, where Numba's simulator is switched on."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support.paths import ROOT


def assert_none_wrong(module: str, *arguments: str) -> None:
    """Run a module of this folder; it prints what is wrong, and exits with 1 then."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.schedule.{module}", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def programs_of(short: tuple[int, int], whole: tuple[int, int]) -> list[Any]:
    """Engines with how many random programs they run, those of the whole run with `-m long`."""
    engines = ("simulator", "emulator")
    longer = [
        pytest.param(*each, marks=pytest.mark.long) for each in zip(engines, whole, strict=True)
    ]
    return [*zip(engines, short, strict=True), *longer]
