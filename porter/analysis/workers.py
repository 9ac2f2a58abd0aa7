"""Files shared out among processes; answers come back in whatever order they are ready."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection, get_context
from typing import Any, Literal, cast

Work = Callable[[int], Any]


def shared_out(work: Work, items: Sequence[int], processes: int) -> Iterator[tuple[int, Any]]:
    """Each item with what `work` makes of it, done by so many processes.

    Items of a process that died are missing.  No process is left when the iteration ends, in
    whatever way it does.
    """
    # a forked child has everything imported and read; macOS's own libraries do not allow it
    context = get_context(cast("Literal['spawn']", "fork" if sys.platform == "linux" else "spawn"))
    position = context.Value("i", 0)
    started = []
    readers: list[connection.Connection[Any, Any]] = []
    try:
        for _ in range(processes):
            reader, writer = context.Pipe(duplex=False)
            # a forked child has the ends of its parent, and would never see them closed
            inherited = (*readers, reader) if sys.platform == "linux" else ()
            arguments = (work, tuple(items), position, writer, os.getpid(), inherited)
            child = context.Process(target=_serve, args=arguments, daemon=True)
            child.start()
            writer.close()
            started.append(child)
            readers.append(reader)
        yield from _received(readers)
    finally:
        for reader in readers:
            reader.close()
        for child in started:
            child.terminate()
        for child in started:
            child.join()


def _received(readers: list[connection.Connection[Any, Any]]) -> Iterator[tuple[int, Any]]:
    while readers:
        for ready in connection.wait(readers):
            assert isinstance(ready, connection.Connection)
            try:
                yield ready.recv()
            except (EOFError, OSError):
                readers.remove(ready)
                ready.close()


def _serve(
    work: Work,
    items: Sequence[int],
    position: Any,
    writer: connection.Connection[Any, Any],
    parent: int,
    inherited: Sequence[connection.Connection[Any, Any]],
) -> None:
    """Take items until there are none; a child whose parent is gone stops."""
    for reader in inherited:
        reader.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and ends its children
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.set_threshold(10_000, 10, 5)  # a process that sees many files is not a short run
    while os.getppid() == parent:
        with position.get_lock():
            at = position.value
            position.value = at + 1
        if at >= len(items):
            break
        try:
            writer.send((items[at], work(items[at])))
        except OSError:
            break
    writer.close()
