"""Work that goes on in a thread while something else is done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Beside(Generic[T]):
    """Something that is done in a thread until its result is asked for."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._future = self._pool.submit(work)

    def result(self) -> T:
        """What the work gave; raises what it raised."""
        try:
            return self._future.result()
        finally:
            self._pool.shutdown()
