"""Running the script that is traced in a child process: a time limit, and nothing left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import porter
from porter.bounded import run_bounded

#: how much of what the child prints is passed on
SHOWN = 64 * 1024
#: seconds beyond the limit: the child minds it by itself, and then writes what it has recorded
GRACE = 5.0


@dataclass(frozen=True)
class Ran:
    """How a child ended: its exit code (negative: a signal), None if the time was over.

    `hidden` counts the bytes that it printed beyond what was passed on.
    """

    code: int | None
    hidden: int


def run_child(args: Sequence[str], seconds: float) -> Ran:
    """Run `porter.trace.child` in the user's own environment, and end all that it started.

    What it prints goes to our standard error, up to `SHOWN` bytes.  It reads no input.
    """
    output = _Output()
    command = [sys.executable, "-m", "porter.trace.child", *args]
    code = run_bounded(command, _environment(), seconds + GRACE, output.read)
    return Ran(code, output.hidden)


class _Output:
    """Passes on the beginning of what a child prints."""

    def __init__(self) -> None:
        self.left = SHOWN
        self.hidden = 0

    def read(self, pipe: IO[bytes]) -> None:
        while data := os.read(pipe.fileno(), 65536):
            shown = data[: self.left]
            self.left -= len(shown)
            self.hidden += len(data) - len(shown)
            if shown:
                sys.stderr.write(shown.decode("utf-8", "replace"))
                sys.stderr.flush()


def _environment() -> dict[str, str]:
    home = str(Path(porter.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(p for p in (home, given) if p)
    # nothing may wait in a buffer when the time is over
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
