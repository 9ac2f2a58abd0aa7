"""What is being done, on a terminal only; a pipe sees nothing of it."""

from __future__ import annotations

import sys
from types import TracebackType


class Progress:
    """One line on stderr that is overwritten by the next step and wiped at the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.shown = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def step(self, what: str) -> None:
        """Say what comes next."""
        if self.shown:
            sys.stderr.write(f"\r\x1b[K{self.title}: {what}")
            sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
