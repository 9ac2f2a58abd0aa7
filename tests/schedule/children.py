"""Programs of a schedule in a process of their own, where Numba's simulator is switched on."""

from __future__ import annotations

import os
import subprocess
import sys

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
