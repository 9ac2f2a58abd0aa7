"""What is being done, on a terminal only; a pipe sees nothing of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from types import TracebackType

_WIPE = "\r\x1b[K"


def wipe() -> None:
    """Take the line away, so that what is printed next stands by itself."""
    if sys.stderr.isatty():
        sys.stderr.write(_WIPE)
        sys.stderr.flush()


class Progress:
    """One line on stderr that is overwritten by the next step and wiped at the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.shown = sys.stderr.isatty()

    @property
    def told(self) -> Callable[[str], None] | None:
        """What says the next step, if anybody sees it."""
        return self.step if self.shown else None

    def __enter__(self) -> Progress:
        return self

    def step(self, what: str) -> None:
        """Say what comes next."""
        if self.shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"{_WIPE}{self.title}: {what}"[: width + len(_WIPE)])
            sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.shown:
            wipe()
