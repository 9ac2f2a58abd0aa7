"""Child processes: a clean environment, a time limit, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import porter
from porter.bounded import Process, begin, end
from porter.verify import limits

#: what a child gets of the environment: to find Python, libraries, the toolkit, and a home
_KEPT = (
    "PATH", "HOME", "USERPROFILE", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX",
    "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES", "NUMBA_CUDA_DRIVER",
)  # fmt: skip

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
#: seconds after which children of a child are looked for again
_LOOKS = 0.5
#: bytes of the log's end in which a message is looked for
_TAIL = 8192


def environment(extra: dict[str, str]) -> dict[str, str]:
    """A small environment in which `porter` can be imported, with some variables added."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    home = str(Path(porter.__file__).resolve().parent.parent)
    given = os.environ.get("PYTHONPATH", "")
    kept["PYTHONPATH"] = os.pathsep.join(p for p in (home, given) if p)
    # the same results on every run, and no threads that two cores cannot use
    kept |= {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"} | extra


def with_bytecode(extra: dict[str, str]) -> dict[str, str]:
    """The variables of a child that may keep bytecode of porter's modules, as the user allows it.

    The child sets `sys.dont_write_bytecode` before it loads anything of the user's: nothing is
    written beside that.
    """
    # an empty variable is as if it were not there
    return extra | {"PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", "")}


class Child:
    """A `python -m` process in its own process group.

    Standard output is thrown away; the end of standard error is kept for messages.  `large` is
    true when it was ended because it and what it started had more in memory than they may.
    `before` is a program that runs the child, with its options.
    """

    process: Process

    def __init__(
        self,
        module: str,
        args: list[str],
        extra: dict[str, str],
        log: Path,
        before: Sequence[str] = (),
    ) -> None:
        # -P keeps a file of the user's in the current folder from hiding a module
        command = [*before, sys.executable, "-P", "-W", "ignore", "-m", module, *args]
        with log.open("wb") as stderr:
            begun = begin(command, environment(extra), stdin=subprocess.PIPE, stderr=stderr)
        self._watch(*begun, log)

    def _watch(self, process: Process, mark: str, log: Path) -> None:
        self.process, self._mark, self._log = process, mark, log
        self._memory, self.large = limits.memory(), False
        self._family, self._looked = [process.pid], time.monotonic()

    def send(self, line: str) -> None:
        """Write one line to the child, which may be gone already."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.write(line.encode() + b"\n")
                self.process.stdin.flush()

    def wait(
        self,
        seconds: float,
        alive: Callable[[], float] | None = None,
        finished: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Whether the child ended by itself, in time and with no more memory than it may have.

        The time starts anew whenever `alive` returns another number.  A child that is `finished`
        need not end.
        """
        last = alive() if alive else 0.0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.process.wait(min(0.05, max(0.001, until - time.monotonic())))
                return True
            except subprocess.TimeoutExpired:
                if finished():
                    return True
                self.large = self._resident() > self._memory
                if self.large:
                    return False
                now = alive() if alive else last
                if now != last:
                    last, until = now, time.monotonic() + seconds
        return False

    def _resident(self) -> int:
        """Bytes in memory of the child and of its children, as far as the system tells."""
        now = time.monotonic()
        # a simulator has a thread for each of its kernel's: to ask all of them takes its time
        if now > self._looked + _LOOKS:
            self._family = family(self.process.pid)
            self._looked = now + 20 * (time.monotonic() - now)  # at most a twentieth of the time
        total = 0
        for pid in self._family:
            with contextlib.suppress(OSError, ValueError, IndexError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
        return total

    def stop(self) -> None:
        """End the child and everything that it started."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        end(self.process, self._mark)

    def ended(self) -> str:
        """How a child ended that is gone: by a signal, or with an exit code."""
        code = self.process.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"by {signal.Signals(-code).name}"
        return f"with exit code {code}"

    def said(self) -> str:
        """The last line on standard error."""
        with contextlib.suppress(OSError):
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - _TAIL))
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
            return lines[-1][:300] if lines else ""
        return ""


def family(pid: int) -> list[int]:
    """A process and what it and its children have started, as far as the system tells."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError, ValueError):
            for task in Path(f"/proc/{each}/task").iterdir():
                with contextlib.suppress(OSError):
                    found += map(int, (task / "children").read_text().split())
    return found
