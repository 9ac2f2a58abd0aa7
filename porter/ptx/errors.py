"""What the machine raises."""

from __future__ import annotations


class Unsupported(Exception):
    """A module uses what the parser or the machine does not have; `what` names it."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"line {line} of the PTX: {what}")
        self.what, self.line = what, line


class MachineError(Exception):
    """A kernel does what the hardware would refuse, or never ends."""


class AccessError(MachineError):
    """A thread reads or writes outside of every array, or at an address that is not aligned."""


class DeadlockError(MachineError):
    """Threads wait for others that never arrive."""


class TooLong(MachineError):
    """A launch takes more instructions than it may."""
