"""Writes what the installed Numba and numba-cuda support: `python -m tests.tools.make_support`."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

FOLDER = ROOT / "porter" / "support"
TARGETS = ("cpu", "cuda", "builtin")


def asked(target: str) -> dict[str, Any]:
    """The table of a target, asked in a child process."""
    # numba.cuda inside Numba is what one imports when no .pth file redirects to numba-cuda
    plain = ["-S"] if target == "builtin" else []
    child = [
        str(Path(__file__).with_name("support_child.py")),
        target,
        sysconfig.get_path("purelib"),
    ]
    done = subprocess.run(
        [sys.executable, *plain, *child], capture_output=True, text=True, check=True, timeout=3000
    )
    return json.loads(done.stdout)


def path(table: dict[str, Any]) -> Path:
    """One file per target and version."""
    return FOLDER / f"{table['target']}-{table['version']}.json"


def text(table: dict[str, Any]) -> str:
    """The table with a line per name, so that versions can be compared."""
    return json.dumps(table, indent=1) + "\n"


if __name__ == "__main__":
    for target in sys.argv[1:] or TARGETS:
        table = asked(target)
        path(table).write_text(text(table), encoding="utf-8")
        sys.stdout.write(f"{path(table).name} written\n")
