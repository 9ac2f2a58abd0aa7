"""One function's work: a stack for deep trees, an end in time, and faults that stay its own.

What goes wrong in porter on the way is the diagnostic of the function that it was working on:
the other functions of the file, and the other files, never notice.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from porter.diagnostics import Diagnostic, Refusal, Span, UsageError

T = TypeVar("T")

#: bytes of stack to ask for, the first that the system grants; untouched pages cost nothing
STACKS = (1 << 30, 256 << 20, 64 << 20)
#: bytes for each level of Python calls: eight times what the costliest way to recurse was seen to
#: take, so that a RecursionError always comes before the end of the stack
LEVEL = 8 << 10
#: what is said where nothing is wrong with the function itself
OWN = frozenset({"PRT917", "PRT918"})
#: seconds that a thread gets to notice that its time is over
_GRACE = 5.0

_limit_lock = threading.Lock()
_running = 0
_usual = 0


class OutOfTime(BaseException):
    """The time of a function is over; raised in the thread that works on it."""


class _Work(Generic[T]):
    """What a thread does, and what came of it."""

    def __init__(self, action: Callable[[], T]) -> None:
        self.action = action
        self.value: list[T] = []
        self.error: BaseException | None = None
        self.over = threading.Event()

    def __call__(self) -> None:
        _inside.deep = True
        try:
            self.value.append(self.action())
        except BaseException as error:
            self.error = error
        finally:
            self.over.set()

    def result(self) -> T:
        """The value of the action, or its exception."""
        if self.error is not None:
            raise self.error
        return self.value[0]


_inside = threading.local()


def deep(action: Callable[[], T], seconds: float | None = None) -> T:
    """What `action` gives, run with a stack for trees as deep as `source/depth.py` lets through.

    Raises OutOfTime when it has not ended after so many seconds.
    """
    if seconds is None and getattr(_inside, "deep", False):
        return action()
    if seconds is not None and seconds <= 0:
        raise OutOfTime
    work = _Work(action)
    _enter()
    try:
        thread = _started(work)
        if not work.over.wait(seconds):
            _stop(thread, work)
            raise OutOfTime
    finally:
        _leave()
    thread.join(_GRACE)
    return work.result()


def _started(work: Callable[[], None]) -> threading.Thread:
    """A thread with the largest stack that there is: `ulimit -v` and small machines allow less."""
    for size in STACKS[:-1]:
        thread = _Deep(work, size)
        with suppress(RuntimeError, ValueError):
            thread.start()
            return thread
    thread = _Deep(work, STACKS[-1])
    thread.start()
    return thread


class _Deep(threading.Thread):
    """A thread with a stack of its own size."""

    def __init__(self, work: Callable[[], None], size: int) -> None:
        super().__init__(target=work, daemon=True)
        self.size = size

    def start(self) -> None:
        """Start it; threads that others start keep their usual stacks."""
        before = threading.stack_size(self.size)
        try:
            super().start()
        finally:
            threading.stack_size(before)

    def run(self) -> None:
        """Work, with as many levels of calls as the stack is good for."""
        _allow(self.size // LEVEL)
        super().run()


def _enter() -> None:
    global _running, _usual
    with _limit_lock:
        if not _running:
            _usual = sys.getrecursionlimit()
        _running += 1


def _allow(levels: int) -> None:
    with _limit_lock:
        if _running and levels > sys.getrecursionlimit():
            sys.setrecursionlimit(levels)


def _leave() -> None:
    global _running
    with _limit_lock:
        _running -= 1
        if not _running:
            sys.setrecursionlimit(_usual)


def _stop(thread: threading.Thread, work: _Work[T]) -> None:
    """Make the thread raise OutOfTime at its next step; one that hears nothing is left behind."""
    # start-up: only what takes too long is stopped
    import ctypes

    end = time.monotonic() + _GRACE
    while not work.over.wait(0.1) and time.monotonic() < end:
        # again and again: code that catches everything may have swallowed it
        number = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(OutOfTime))


@dataclass(frozen=True)
class Place:
    """The function that is worked on: its name, its file, and where it stands."""

    name: str
    path: str
    span: Span


def guarded(
    place: Place,
    action: Callable[[], T],
    seconds: float | None = None,
    expected: tuple[type[Exception], ...] = (),
) -> T | Diagnostic:
    """What `action` gives, or why porter could not do it for this function.

    Refusals, usage errors and exceptions that are `expected` pass through.
    """
    passing: tuple[type[Exception], ...] = (Refusal, UsageError, *expected)
    try:
        return deep(action, seconds)
    except passing:
        raise
    except OutOfTime:
        return _diagnostic(
            place, "PRT918", "conversion-time-limit",
            f"converting `{place.name}` took more than {seconds or 0:g} s",
            "split it into several functions, or allow more time with `--timeout`",
        )  # fmt: skip
    except (RecursionError, MemoryError):
        return _diagnostic(
            place, "PRT902", "unsupported-syntax", f"`{place.name}` is nested too deeply",
            "split its expressions and branches into variables and functions",
        )  # fmt: skip
    except Exception as error:
        if os.environ.get("PORTER_DEBUG"):
            raise
        return internal_error(place, error)


@contextmanager
def doing_without() -> Iterator[None]:
    """For work that nobody asked for, such as other types of arguments.

    A refusal ends it quietly, and so does an error of porter's own, unless PORTER_DEBUG is set.
    """
    try:
        yield
    except (Refusal, RecursionError):
        pass
    except Exception:
        if os.environ.get("PORTER_DEBUG"):
            raise


def internal_error(place: Place, error: Exception) -> Diagnostic:
    """What is said of a function on which porter itself failed."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
    shown = f"`{place.name}`" if place.name else "this file"
    return _diagnostic(
        place, "PRT917", "internal-error",
        f"porter could not convert {shown} because of an internal error",
        f"report it with this function ({reason}); PORTER_DEBUG=1 shows the traceback",
    )  # fmt: skip


def _diagnostic(place: Place, code: str, name: str, message: str, cure: str) -> Diagnostic:
    return Diagnostic(code, name, message, place.span, place.path, help=cure, function=place.name)
