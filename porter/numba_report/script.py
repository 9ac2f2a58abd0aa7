"""A child process that may do anything: it is bounded in time and output, and leaves nothing."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from porter.bounded import run_bounded
from porter.verify.process import environment

#: how much of the end of the output is kept
_KEPT = 16_384


@dataclass(frozen=True)
class Ended:
    """How a child process ended: its exit code (negative: a signal), None when it was stopped
    because its time was over; `said` holds the last lines that it printed."""

    code: int | None
    said: tuple[str, ...] = ()


class Tail:
    """Reads a pipe to its end and keeps only the last of it."""

    def __init__(self) -> None:
        self._kept: deque[bytes] = deque()
        self._size = 0

    def read(self, pipe: IO[bytes]) -> None:
        """Read to the end of the pipe."""
        with contextlib.suppress(OSError, ValueError):
            while chunk := pipe.read1(65_536):  # type: ignore[attr-defined]
                self._kept.append(chunk)
                self._size += len(chunk)
                while self._size - len(self._kept[0]) >= _KEPT:
                    self._size -= len(self._kept.popleft())

    def lines(self) -> tuple[str, ...]:
        """The last lines, once the process has ended."""
        text = b"".join(list(self._kept))[-_KEPT:].decode("utf-8", "replace")
        return tuple(line for line in text.splitlines() if line.strip())


def run(module: str, request: Path, seconds: float, extra: dict[str, str]) -> Ended:
    """Run `python -m module request` for at most `seconds`; nothing it started survives."""
    tail = Tail()
    command = [sys.executable, "-P", "-W", "ignore", "-m", module, str(request)]
    code = run_bounded(command, environment(extra), seconds, tail.read)
    return Ended(code, tail.lines())
