"""A limit of processor time: what else the machine does makes no difference."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from porter.verify.oracle.calls import TooLong


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block after some seconds of this process, where alarms exist."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong(f"over {seconds:.2g} s")

    before = signal.signal(signal.SIGPROF, ring)
    # again and again: a bare `except` catches the first
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
