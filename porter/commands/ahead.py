"""Work on several items at once, with the results in order.

Most of a conversion is waiting for the children that verify it, so a few threads keep the
processor's cores busy.  They are daemons: a command that is terminated does not wait for them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

#: items at once, at most: each has children of its own
MOST = 2


def in_order(action: Callable[[S], T], items: Sequence[S]) -> Iterator[Future[T]]:
    """What `action` gives for each item, in their order; a result raises what it raised."""
    futures: list[Future[T]] = [Future() for _ in items]
    waiting = iter(list(zip(items, futures, strict=True)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                pair = next(waiting, None)
            if pair is None:
                return
            item, future = pair
            try:
                future.set_result(action(item))
            except BaseException as error:
                future.set_exception(error)

    for _ in range(min(MOST, os.cpu_count() or 1, len(items))):
        threading.Thread(target=work, daemon=True).start()
    yield from futures
