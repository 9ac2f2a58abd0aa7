"""Running code of the user's in a child process: a time limit, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import porter

#: how much of what the child prints is passed on, and how much of its end is kept
SHOWN, KEPT = 64 * 1024, 4 * 1024
_MARK = "PORTER_CHILD"


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
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-m", module, *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(mark, extra or {}),
        start_new_session=os.name == "posix",
    )
    assert process.stdout is not None
    output = _Output(process.stdout)
    reader = threading.Thread(target=output.read, daemon=True)
    reader.start()
    code: int | None = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(seconds + grace)
    finally:
        _end(process, mark)
    # a process that we could not end may hold the pipe open: do not wait for it
    reader.join(2.0)
    return Ran(code, output.hidden, output.tail)


class _Output:
    """Passes on the beginning of what a child prints and keeps the end."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.pipe = pipe
        self.left = SHOWN
        self.hidden = 0
        self.last = b""

    @property
    def tail(self) -> str:
        return self.last.decode("utf-8", "replace")

    def read(self) -> None:
        while data := os.read(self.pipe.fileno(), 65536):
            shown = data[: self.left]
            self.left -= len(shown)
            self.hidden += len(data) - len(shown)
            self.last = (self.last + data)[-KEPT:]
            if shown:
                sys.stderr.write(shown.decode("utf-8", "replace"))
                sys.stderr.flush()


def _environment(mark: str, extra: Mapping[str, str]) -> dict[str, str]:
    home = str(Path(porter.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(p for p in (home, given) if p)
    # nothing may wait in a buffer when the time is over
    fixed = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", _MARK: mark}
    return {**os.environ, **fixed, **extra}


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End the child, its process group, and what left the group but carries our mark."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()
    # a process that is being started may not carry the mark yet: look again
    for _ in range(3):
        strays = _marked(mark)
        for pid in strays:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not strays:
            return
        time.sleep(0.02)


def _marked(mark: str) -> list[int]:
    """Processes of ours whose environment holds the mark, where /proc tells."""
    found = []
    word = f"{_MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
