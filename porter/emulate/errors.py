"""What the emulator raises."""

from __future__ import annotations


class Unsupported(Exception):
    """A kernel uses what the emulator does not have: it runs on the simulator instead."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.reason, self.line = reason, line


class Stopped(Exception):
    """Raised by compiled code: what went wrong stands in the launch's report."""


class OutOfBounds(IndexError):
    """A thread touched an element beyond the ends of an array; `first`: the first of an axis that
    has none."""

    def __init__(self, text: str, first: bool = False) -> None:
        super().__init__(text)
        self.first = first


class BarrierError(RuntimeError):
    """Threads wait for one another at places that not all of them reach."""


class RaceError(RuntimeError):
    """Two threads touch one element in no order, and one of them writes it."""


class LaunchError(ValueError):
    """A launch needs more than a GPU has."""
