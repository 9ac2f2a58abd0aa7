"""Children for the simulator and what stands in its place, forked by a process of imports.

The imports of such a child take 0.7 s.  A server has done them for all that are begun within
`kept`.  It runs nothing of the user's: each request has a process, and a time limit, of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from porter.bounded import begin, end, started
from porter.verify.process import Child, environment

#: bytes of a number on a server's pipe
_NUMBER = 4
#: seconds that a server may take for its imports
_PATIENCE = 120.0
#: servers that are kept: each is for one environment, and has 150 MiB in memory
_MOST = 2
#: the servers by their environment, those that only wait for their children, and how many `kept`
#: last
_servers: dict[str, _Server] = {}
_retired: list[_Server] = []
_depth = 0
_lock = threading.Lock()


@contextmanager
def kept() -> Iterator[None]:
    """Keep servers while the outermost of these lasts; end them then."""
    global _depth
    with _lock:
        _depth += 1
    try:
        yield
    finally:
        left: list[_Server] = []
        with _lock:
            _depth -= 1
            if not _depth:
                left = [*_servers.values(), *_retired]
                _servers.clear()
                _retired.clear()
        for server in left:
            server.stop()


def forked(file: str, on: str, extra: dict[str, str], cache: str, log: Path) -> Child | None:
    """A child of `sim_child` at work on the request in a file, for the engine `on`.

    None where a process of its own must do it: outside `kept`, and where the system cannot fork
    or a server did not start.  `cache` is the folder of the functions that Numba compiles.
    """
    if sys.platform != "linux" or not _depth:
        return None
    key = json.dumps(environment(extra), sort_keys=True)
    try:
        with _lock:
            server = _servers.get(key)
            if server is None or server.process.poll() is not None:
                server = _servers[key] = _Server(extra)
                while len(_servers) > _MOST:
                    oldest = _servers.pop(next(iter(_servers)))
                    oldest.socket.close()
                    _retired.append(oldest)
        return _Fork(server, {"file": file, "on": on, "cache": cache}, log)
    except OSError:
        return None


class _Server:
    """A process that forks children."""

    def __init__(self, extra: dict[str, str]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-W", "ignore", "-m", "porter.verify.fork.server"]
        with theirs:
            self.process, self._mark = begin(command, environment(extra), stdin=theirs.fileno())

    def stop(self) -> None:
        """End it; children of it that are left are ended by who began them."""
        self.socket.close()
        end(self.process, self._mark)


class _Fork(Child):
    """A child that a server has forked; raises `OSError` where that cannot be."""

    def __init__(self, server: _Server, request: dict[str, str], log: Path) -> None:
        def start(mark: str) -> _Process:
            with contextlib.ExitStack() as stack:

                def kept_open(number: int) -> int:
                    stack.callback(os.close, number)
                    return number

                given, written = os.pipe()
                process = _Process(os.fdopen(written, "wb"))
                files = [kept_open(given), stack.enter_context(log.open("wb")).fileno()]
                files += [kept_open(os.open(".", os.O_PATH)), kept_open(process.tells)]
                message = json.dumps(request | {"mark": mark}).encode()
                socket.send_fds(server.socket, [message], files)
            process.begun()
            return process

        self._watch(*started(start), log)


class _Process:
    """What a server has forked, as `subprocess.Popen` would have it."""

    def __init__(self, stdin: IO[bytes]) -> None:
        self.stdin: IO[bytes] | None = stdin
        self.pid = 0
        self.returncode: int | None = None
        self._told, self.tells = os.pipe()
        self._lock = threading.Lock()

    def begun(self) -> None:
        """Wait for its number; raises `OSError` where there is none."""
        pid = self._number(_PATIENCE)
        if pid is None or pid < 0:
            raise OSError("the server has ended")
        self.pid = pid

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        with self._lock:
            if self.returncode is None:
                self.returncode = self._number(0.0)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; raises `subprocess.TimeoutExpired` when the seconds are over."""
        with self._lock:
            if self.returncode is None:
                self.returncode = self._number(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _number(self, seconds: float | None) -> int | None:
        """The next number that the server tells, None if it tells none in time.

        Where the server is gone it is that of a process which was killed.
        """
        ready = select.poll()
        ready.register(self._told, select.POLLIN)
        if not ready.poll(None if seconds is None else 1000 * seconds):
            return None
        told = os.read(self._told, _NUMBER)
        return int.from_bytes(told, sys.byteorder, signed=True) if told else -signal.SIGKILL

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._told)
