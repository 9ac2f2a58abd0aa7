"""Child processes that may do anything: bounded in time, and nothing that they start is left."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol, TypeVar


class Process(Protocol):
    """What is used of a `subprocess.Popen`."""

    @property
    def pid(self) -> int:
        """Its number, which is that of its process group."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """What it reads."""

    @property
    def returncode(self) -> int | None:
        """Its exit code as far as it is known; negative for a signal."""

    def poll(self) -> int | None:
        """The exit code, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; raises `subprocess.TimeoutExpired` when the seconds are over."""

    def kill(self) -> None:
        """End it at once."""


P = TypeVar("P", bound=Process)

#: marks the processes of one run, also those that left its process group
MARK = "PORTER_CHILD"

# marks of the children that may still run, and their processes once these are known
_begun: dict[str, Process | None] = {}
_starting = threading.RLock()
_over: list[bool] = []


def begin(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
) -> tuple[subprocess.Popen[bytes], str]:
    """Start a child in a process group of its own; its process and its mark."""
    return started(
        lambda mark: subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**environment, MARK: mark},
            start_new_session=os.name == "posix",
        )
    )


def started(start: Callable[[str], P]) -> tuple[P, str]:
    """The process that `start` makes with a mark, which must be in its environment; and the mark.

    A signal can end this process while the child starts, before anyone could `end` it: what was
    begun and is not ended by then is ended at exit.
    """
    mark = uuid.uuid4().hex
    with _starting:
        if _over:
            # a thread that works on while the command ends
            raise SystemExit
        _begun[mark] = None
        _begun[mark] = process = start(mark)
    return process, mark


def run_bounded(
    command: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    read: Callable[[IO[bytes]], None],
) -> int | None:
    """The exit code of a command (negative: a signal), None if its time was over.

    It reads no input.  `read` is given the pipe with all that it prints, in a thread.
    """
    process, mark = begin(command, environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    reader = threading.Thread(target=read, args=(process.stdout,), daemon=True)
    reader.start()
    code: int | None = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(seconds)
    finally:
        end(process, mark)
    # a process that we could not end may hold the pipe open: do not wait for it
    reader.join(2.0)
    return code


def end(process: Process | None, mark: str) -> None:
    """End a child, its process group, and what left the group but has `MARK` = mark, once."""
    if mark not in _begun:
        return  # its number may be another process's by now
    if process is not None:
        _end_group(process)
    _end_marked(mark)
    _begun.pop(mark, None)


@atexit.register
def end_all() -> None:
    """End the children that nobody ended, and let none begin."""
    _over.append(True)
    # the main thread may have been stopped while it held the lock itself
    if _starting.acquire(timeout=5.0):
        _starting.release()
    for mark, process in list(_begun.items()):
        end(process, mark)


def _end_group(process: Process) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()


def _end_marked(mark: str) -> None:
    # a process that forks while it is looked for shows up in the next round
    for _ in range(5):
        left = _marked(mark)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.02)


def _marked(mark: str) -> list[int]:
    """Processes that inherited the mark; where there is no /proc, none are found."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
