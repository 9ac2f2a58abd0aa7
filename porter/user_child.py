"""Running code of the user's in a child process: a time limit, and nothing left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import porter
from porter.bounded import run_bounded

#: how much of what the child prints is passed on, and how much of its end is kept
SHOWN, KEPT = 64 * 1024, 4 * 1024


@dataclass(frozen=True)
class Ran:
    """How a child ended: its exit code (negative: a signal), None if the time was over.

    `hidden` counts the bytes that it printed beyond what was passed on, `tail` is the end of
    all that it printed.
    """

    code: int | None
    hidden: int
    tail: str


def run_child(
    module: str,
    args: Sequence[str],
    seconds: float,
    *,
    grace: float = 0.0,
    extra: Mapping[str, str] | None = None,
) -> Ran:
    """Run `python -m module args` in the user's own environment, and end all that it started.

    What it prints goes to our standard error, up to `SHOWN` bytes.  It reads no input.
    `grace` is added for a child that minds the limit by itself.
    """
    output = _Output()
    command = [sys.executable, "-m", module, *args]
    code = run_bounded(command, _environment(extra or {}), seconds + grace, output.read)
    return Ran(code, output.hidden, output.tail)


class _Output:
    """Passes on the beginning of what a child prints and keeps the end."""

    def __init__(self) -> None:
        self.left = SHOWN
        self.hidden = 0
        self.last = b""

    @property
    def tail(self) -> str:
        return self.last.decode("utf-8", "replace")

    def read(self, pipe: IO[bytes]) -> None:
        while data := os.read(pipe.fileno(), 65536):
            shown = data[: self.left]
            self.left -= len(shown)
            self.hidden += len(data) - len(shown)
            self.last = (self.last + data)[-KEPT:]
            if shown:
                sys.stderr.write(shown.decode("utf-8", "replace"))
                sys.stderr.flush()


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    home = str(Path(porter.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(p for p in (home, given) if p)
    # nothing may wait in a buffer when the time is over
    fixed = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **fixed, **extra}
