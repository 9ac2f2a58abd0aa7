"""What a module of tests prints in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.paths import ROOT


def answer(module: str, *args: str, **environment: str) -> Any:
    """The last line of `python -m module args` as JSON; the process must end well."""
    done = subprocess.run(
        [sys.executable, "-m", module, *args],
        capture_output=True, text=True, timeout=600, check=False, cwd=ROOT,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
