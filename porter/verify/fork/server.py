"""The process that imports what `sim_child` needs, and forks a child for each request.

`python -m porter.verify.fork.server` gets its requests from the socket that is its standard input:
JSON with three files, which are the child's standard input, its standard error and its current
folder, and a fourth one that tells the child's number and exit code.  It runs no code of the
user's.  A child goes on where the server is, as `python -m porter.verify.sim_child` would.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import select
import signal
import socket
import struct
import sys
from typing import Any

import numpy as np
from numba.core import config

from porter.bounded import MARK
from porter.verify import sim_child

#: bytes of a request, and the files with it
MOST, FILES = 1 << 16, 4
#: how a number and an exit code are told
NUMBER = struct.Struct("i")


class Server:
    """Requests, and the children at work."""

    def __init__(self) -> None:
        self.requests = socket.socket(fileno=os.dup(0))
        # where the system reads this process's mark, which a child overwrites with its own
        self._mark = ctypes.CDLL(None).getenv
        self._mark.restype = ctypes.c_void_p
        #: where the exit codes of the children go, by their numbers
        self.running: dict[int, int] = {}
        self.ended, wakes = os.pipe()
        self._wakes = wakes
        for end in (self.ended, wakes):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def child(self) -> dict[str, Any] | None:
        """The request of a child, in the child; None in the server when there will be no more."""
        while True:
            for ready in select.select([self.ended, self.requests], [], [])[0]:
                if ready is self.ended:
                    os.read(self.ended, MOST)
                    self._tell()
                    continue
                message, files, _, _ = socket.recv_fds(self.requests, MOST, FILES)
                if not message:
                    return None
                request = json.loads(message)
                prepare(request["on"])
                if self._forked(request, *files):
                    return dict(request)

    def _forked(
        self, request: dict[str, Any], given: int, log: int, folder: int, told: int
    ) -> bool:
        """Whether this is the child."""
        pid = os.fork()
        if pid == 0:
            self._leave(told)
            os.setsid()
            os.dup2(given, 0)
            os.dup2(log, 2)
            os.fchdir(folder)
            ctypes.memmove(
                self._mark(MARK.encode()), request["mark"].encode(), len(request["mark"])
            )
            os.environ[MARK] = request["mark"]
        else:
            os.write(told, NUMBER.pack(pid))
            self.running[pid] = told
        for each in (given, log, folder):
            os.close(each)
        return pid == 0

    def _leave(self, told: int) -> None:
        """Close in a child what is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.requests.close()
        for each in (self.ended, self._wakes, told, *self.running.values()):
            os.close(each)

    def _tell(self) -> None:
        """Tell the exit codes of the children that have ended."""
        for pid in list(self.running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                told = self.running.pop(pid)
                code = NUMBER.pack(os.waitstatus_to_exitcode(status))
                # nobody may wait for it any more
                with contextlib.suppress(BrokenPipeError):
                    os.write(told, code)
                os.close(told)


def prepare(on: str) -> None:
    """Import what an engine needs beside the simulator: once for all children."""
    if on == "emulator":
        # start-up: the simulator needs no emulator
        from porter.verify.engines import emulation  # noqa: F401
    elif on == "ptx":
        # start-up: the simulator needs no machine
        from porter.verify.engines import machine  # noqa: F401


def main() -> None:
    """Serve until the socket is closed; in a child, answer its request."""
    # the collector has no need to look through what was imported, nor to copy its pages
    gc.collect()
    gc.freeze()
    server = Server()
    request = server.child()
    if request is None:
        return
    # as in processes of their own: random numbers, and the folder of compiled functions
    random.seed()
    np.random.seed()
    os.environ["NUMBA_CACHE_DIR"] = config.CACHE_DIR = request["cache"]
    sys.argv[1:] = [request["file"]]
    sim_child.main()


if __name__ == "__main__":
    main()
