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
from collections import Counter
from typing import Any

import numpy as np
from numba.core import config

from porter.bounded import MARK
from porter.verify import sim_child
from porter.verify.fork.first import prepare

#: bytes of a request, and the files with it
MOST, FILES = 1 << 16, 4
#: how a number and an exit code are told
NUMBER = struct.Struct("i")


class Server:
    """Requests, and the children at work."""

    def __init__(self) -> None:
        self.requests = socket.socket(fileno=os.dup(0))
        # where the system reads the mark of a process: a child has its own from the beginning
        place = ctypes.CDLL(None).getenv
        place.restype = ctypes.c_void_p
        self._own = os.environb[MARK.encode()]
        memory = (ctypes.c_char * len(self._own)).from_address(place(MARK.encode()))
        self._mark = memoryview(memory).cast("B")
        #: where the exit codes of the children go, by their numbers
        self.running: dict[int, int] = {}
        self.asked = Counter[str]()
        self.ended, wakes = os.pipe()
        self._wakes = wakes
        for end in (self.ended, wakes):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def child(self) -> dict[str, Any] | None:
        """The request of a child, in the child; None in the server when there will be no more,
        and the last child has ended."""
        waits = [self.ended, self.requests.fileno()]
        while len(waits) == 2 or self.running:
            ready = select.select(waits, [], [])[0]
            if self.ended in ready:
                os.read(self.ended, MOST)
                self._ended()
            if self.requests.fileno() not in ready:
                continue
            message, files, _, _ = socket.recv_fds(self.requests, MOST, FILES)
            if not message:
                waits = [self.ended]
                continue
            request: dict[str, Any] = json.loads(message)
            prepare(request["on"], self.asked[request["on"]])
            self.asked[request["on"]] += 1
            if self._forked(request["mark"].encode(), *files):
                return request
        return None

    def _forked(self, mark: bytes, given: int, log: int, folder: int, told: int) -> bool:
        """Whether this is the child, which has its own input, errors, folder and mark."""
        self._mark[:] = mark
        pid = os.fork()
        if pid == 0:
            self._leave(told)
            os.setsid()
            os.dup2(given, 0)
            os.dup2(log, 2)
            os.fchdir(folder)
            os.environ[MARK] = mark.decode()
        else:
            self._mark[:] = self._own
            _tell(told, pid)
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

    def _ended(self) -> None:
        """Tell the exit codes of the children that have ended."""
        for pid in list(self.running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                told = self.running.pop(pid)
                _tell(told, os.waitstatus_to_exitcode(status))
                os.close(told)


def _tell(told: int, number: int) -> None:
    # nobody may wait for it any more
    with contextlib.suppress(BrokenPipeError):
        os.write(told, NUMBER.pack(number))


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
    os.environ["NUMBA_CACHE_DIR"] = request["cache"]
    config.reload_config()
    sys.argv[1:] = [request["file"]]
    sim_child.main()


if __name__ == "__main__":
    main()
