"""Child processes: a clean environment, a time limit, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import porter

#: what a child gets of the environment: to find Python, libraries, the toolkit, and a home
_KEPT = (
    "PATH", "HOME", "USERPROFILE", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX",
    "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES", "NUMBA_CUDA_DRIVER",
)  # fmt: skip


def environment(extra: dict[str, str]) -> dict[str, str]:
    """A small environment in which `porter` can be imported, with some variables added."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    home = str(Path(porter.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH", "")
    kept["PYTHONPATH"] = os.pathsep.join(p for p in (home, given) if p)
    # the same results on every run, and no threads that two cores cannot use
    kept |= {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"} | extra


class Child:
    """A `python -m` process in its own process group.

    Standard output is thrown away; the end of standard error is kept for messages.
    """

    def __init__(self, module: str, args: list[str], extra: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as stderr:
            # -P keeps a file of the user's in the current folder from hiding a module
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", "-m", module, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment(extra),
                start_new_session=os.name == "posix",
            )

    def send(self, line: str) -> None:
        """Write one line to the child, which may be gone already."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.write(line.encode() + b"\n")
                self.process.stdin.flush()

    def wait(self, seconds: float, alive: Callable[[], float] | None = None) -> bool:
        """Whether the child ended by itself in time.

        The time starts anew whenever `alive` returns another number.
        """
        last = alive() if alive else 0.0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.process.wait(min(0.05, max(0.001, until - time.monotonic())))
                return True
            except subprocess.TimeoutExpired:
                now = alive() if alive else last
                if now != last:
                    last, until = now, time.monotonic() + seconds
        return False

    def stop(self) -> None:
        """End the child and everything that it started."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def said(self) -> str:
        """The last line on standard error."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text("utf-8", "replace").strip().splitlines()
            return lines[-1][:300] if lines else ""
        return ""
