"""A child process that may do anything: it is bounded in time and output, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from porter.verify.process import environment

#: how much of the end of the output is kept
_KEPT = 16_384
#: marks the processes of one run, also those that left its process group
_MARK = "PORTER_RUN"


@dataclass(frozen=True)
class Ended:
    """How a child process ended: its exit code (negative: a signal), None when it was stopped
    because its time was over; `said` holds the last lines that it printed."""

    code: int | None
    said: tuple[str, ...] = ()


class Tail:
    """Reads a pipe to its end and keeps only the last of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._kept: deque[bytes] = deque()
        self._size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := self._pipe.read1(65_536):  # type: ignore[attr-defined]
                self._kept.append(chunk)
                self._size += len(chunk)
                while self._size - len(self._kept[0]) >= _KEPT:
                    self._size -= len(self._kept.popleft())

    def lines(self) -> tuple[str, ...]:
        """The last lines, once the process has ended."""
        self._thread.join(1.0)
        text = b"".join(list(self._kept))[-_KEPT:].decode("utf-8", "replace")
        return tuple(line for line in text.splitlines() if line.strip())


def run(module: str, request: Path, seconds: float, extra: dict[str, str]) -> Ended:
    """Run `python -m module request` for at most `seconds`; nothing it started survives."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", module, str(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(extra | {_MARK: mark}),
        start_new_session=os.name == "posix",
    )
    assert process.stdout is not None
    tail = Tail(process.stdout)
    code: int | None = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(seconds)
    finally:
        _end(process, mark)
    said = tail.lines()
    return Ended(code, said)


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()
    for _ in range(5):
        # a process that forks while it is looked for shows up in the next round
        left = _marked(mark)
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _marked(mark: str) -> list[int]:
    """Processes that inherited the mark; where there is no /proc, none are found."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
