"""Child processes that may do anything: bounded in time, and nothing that they start is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

#: marks the processes of one run, also those that left its process group
MARK = "PORTER_CHILD"


def run_bounded(
    command: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    read: Callable[[IO[bytes]], None],
) -> int | None:
    """The exit code of a command (negative: a signal), None if its time was over.

    It reads no input.  `read` is given the pipe with all that it prints, in a thread.
    """
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, MARK: mark},
        start_new_session=os.name == "posix",
    )
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


def end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a child, its process group, and what left the group but has `MARK` = mark."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()
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
